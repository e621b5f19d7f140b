internal import Glibc
internal import ReachabilityModel

/// What a system call's refusal says about a check (connect(2), ip(7), icmp(7)).
///
/// Two questions are answered here, and nowhere else: what the code means, and who is to blame. A call that the kernel
/// refuses at once never sent a packet: our own way out is missing, and the check is `unreachable`. An error that comes
/// later was told by somebody on the way, or by a neighbour's silence: the check is `down`, unless whoever asked knows
/// from the engine that the way out went away meanwhile.
struct SocketFailure: Error, Equatable {
  /// The errno.
  let code: Int32
  /// Whether the call itself was refused, before anything was sent.
  let isImmediate: Bool

  /// A refusal by the call itself.
  static func immediate(_ code: Int32) -> SocketFailure { SocketFailure(code: code, isImmediate: true) }
  /// An error that the socket had to wait for (SO_ERROR).
  static func later(_ code: Int32) -> SocketFailure { SocketFailure(code: code, isImmediate: false) }

  var reason: Reason {
    switch code {
    case ENETUNREACH: .networkUnreachable
    // A host without the protocol (ICMP code 2), or one that the network calls down or unknown.
    case EHOSTUNREACH, EHOSTDOWN, ENONET, ENOPROTOOPT, EPROTO: .hostUnreachable
    case ECONNREFUSED: .refused
    // EPERM is the packet filter's, EACCES a prohibit route's, or an ICMP "administratively prohibited".
    case EACCES, EPERM: .prohibited
    case ETIMEDOUT: .connectTimeout
    case ECONNRESET, EPIPE, ECONNABORTED: .reset
    // The route's type blackhole; everything else that could be invalid is ours to get right.
    case EINVAL: .blackhole
    case ENETDOWN: .linkDown
    case EADDRNOTAVAIL: .noSource
    case ENODEV, ENXIO: .unknownInterface
    case EMFILE, ENFILE: .descriptorLimit
    case let code where Self.isResourceExhaustion(code): .cancelled
    default: .noReply
    }
  }

  var state: CheckResult.State {
    if Self.isResourceExhaustion(code) { return .unknown }
    // A refusal at once can also come from the host itself: on loopback it is us.
    return isImmediate && code != ECONNREFUSED ? .unreachable : .down
  }

  /// Whether another address of the same name may do better: nobody has answered for the name yet.
  var allowsNextAddress: Bool {
    [.networkUnreachable, .hostUnreachable, .prohibited, .blackhole, .linkDown, .noSource].contains(reason)
  }

  /// The kernel's words, and whose they are.
  var detail: String {
    if reason == .descriptorLimit { return Self.descriptorAdvice(code) }
    if Self.isResourceExhaustion(code) {
      return "this machine is short of descriptors, ports or memory: \(Self.message(code))"
    }
    return isImmediate ? "the kernel refused to send: \(Self.message(code))" : Self.message(code)
  }

  /// What to raise when there are too few descriptors: the process's own limit, or that of the system.
  static func descriptorAdvice(_ code: Int32) -> String {
    code == ENFILE
      ? "no descriptor left in the system: raise fs.file-max (sysctl)"
      : "no descriptor left in this process: raise the limit of open files (LimitNOFILE=, ulimit -n)"
  }

  /// Errors that say something about us and nothing about the target.
  private static func isResourceExhaustion(_ code: Int32) -> Bool {
    [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN].contains(code)
  }

  static func message(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

  var finding: Finding {
    Finding(state, reason, detail: detail, allowsNextAddress: allowsNextAddress)
  }
}
