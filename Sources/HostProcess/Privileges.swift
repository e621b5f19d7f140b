internal import CProcess
internal import Glibc

/// The privileges of a thread (capabilities(7)), and dropping them.
public struct Privileges: Sendable, Equatable, CustomStringConvertible {
  /// The effective user.
  public let user: UInt32
  /// Whether execve(2) cannot grant privileges (PR_SET_NO_NEW_PRIVS).
  public let hasNoNewPrivileges: Bool
  /// The effective capabilities, one bit each.
  public let effective: UInt64
  /// The permitted and inheritable capabilities, one bit each.
  public let permitted: UInt64
  /// The capability bounding set: the capabilities that an executed program could gain.
  public let bounding: UInt64

  /// Whether no privilege is left that could be used or regained.
  ///
  /// The bounding set may be full: with `no_new_privs`, no program can gain a capability from it.
  public var isNone: Bool { hasNoNewPrivileges && effective == 0 && permitted == 0 }

  /// A summary such as `user 65532, no new privileges, no capabilities`.
  public var description: String {
    let word = hasNoNewPrivileges ? "no new privileges" : "may gain privileges"
    let held = effective | permitted
    return "user \(user), \(word), " + (held == 0 ? "no capabilities" : "capabilities 0x\(String(held, radix: 16))")
  }

  /// Drops every capability, and the ability to gain any, for the calling thread and the threads that it creates later.
  ///
  /// The kernel keeps capabilities per thread, so call this while the process has one thread. It cannot be undone.
  ///
  /// - Returns: the remaining privileges, as the kernel reports them.
  public static func drop() -> Privileges {
    // The bounding set comes first, because shrinking it needs CAP_SETPCAP. Without CAP_SETPCAP it stays, but
    // `no_new_privs` makes it ineffective.
    for capability in knownCapabilities { _ = CProcess_drop_bounding(capability) }
    _ = CProcess_clear_ambient()
    _ = CProcess_set_no_new_privileges()
    _ = CProcess_clear_capabilities()
    return current
  }

  /// Runs `body` without effective capabilities, as if they were dropped, and restores them.
  ///
  /// Call this while the process has one thread.
  public static func withoutEffectiveCapabilities<Result>(_ body: () -> Result) -> Result {
    let before = current.effective
    _ = CProcess_set_effective(0)
    defer { _ = CProcess_set_effective(before) }
    return body()
  }

  /// The calling thread's privileges.
  public static var current: Privileges {
    var sets = CProcess_Capabilities()
    // It fails only for a version or a thread that does not exist.
    _ = unsafe CProcess_get_capabilities(&sets)
    return Privileges(
      user: geteuid(), hasNoNewPrivileges: CProcess_has_no_new_privileges() == 1, effective: sets.effective,
      permitted: sets.permitted | sets.inheritable,
      bounding: knownCapabilities.reduce(0) { CProcess_is_bounding($1) == 1 ? $0 | 1 << UInt64($1) : $0 })
  }

  /// The capabilities that this kernel supports.
  private static var knownCapabilities: [UInt] { (0..<64).filter { CProcess_is_bounding($0) >= 0 } }
}
