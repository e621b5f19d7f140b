internal import CProcess
internal import Glibc

/// What a thread may do beyond any user's rights (capabilities(7)), and how it gives that up.
public struct Privileges: Sendable, Equatable, CustomStringConvertible {
  /// The effective user.
  public let user: UInt32
  /// Whether no program that is executed from here can gain a right (PR_SET_NO_NEW_PRIVS).
  public let hasNoNewPrivileges: Bool
  /// The capabilities in effect, a bit for each.
  public let effective: UInt64
  /// The capabilities that could be taken into effect, or handed on.
  public let permitted: UInt64
  /// The capabilities that an executed program could ever get.
  public let bounding: UInt64

  /// Whether nothing is left that could be used or regained.
  ///
  /// The bounding set may be full all the same: without new privileges nobody can draw on it.
  public var isNone: Bool { hasNoNewPrivileges && effective == 0 && permitted == 0 }

  /// `user 65532, no new privileges, no capabilities`.
  public var description: String {
    let word = hasNoNewPrivileges ? "no new privileges" : "may gain privileges"
    let held = effective | permitted
    return "user \(user), \(word), " + (held == 0 ? "no capabilities" : "capabilities 0x\(String(held, radix: 16))")
  }

  /// Gives up every capability, and the way to any, for the calling thread and the threads that it starts from now on.
  ///
  /// The kernel keeps these per thread: call it while there is only one. Nothing is ever given back.
  ///
  /// - Returns: what is left, read back from the kernel.
  public static func drop() -> Privileges {
    // The bounding set first: shrinking it needs CAP_SETPCAP. Without that it stays, and cannot be drawn on (below).
    for capability in knownCapabilities { _ = CProcess_drop_bounding(capability) }
    _ = CProcess_clear_ambient()
    _ = CProcess_set_no_new_privileges()
    _ = CProcess_clear_capabilities()
    return current
  }

  /// The calling thread's privileges.
  public static var current: Privileges {
    var sets = CProcess_Capabilities()
    // It can only fail for a version or thread that does not exist.
    _ = unsafe CProcess_get_capabilities(&sets)
    return Privileges(
      user: geteuid(), hasNoNewPrivileges: CProcess_has_no_new_privileges() == 1, effective: sets.effective,
      permitted: sets.permitted | sets.inheritable,
      bounding: knownCapabilities.reduce(0) { CProcess_is_bounding($1) == 1 ? $0 | 1 << UInt64($1) : $0 })
  }

  /// The capabilities that this kernel has.
  private static var knownCapabilities: [UInt] { (0..<64).filter { CProcess_is_bounding($0) >= 0 } }
}
