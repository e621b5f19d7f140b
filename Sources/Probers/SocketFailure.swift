internal import Glibc
internal import ReachabilityModel

/// The meaning of a system call's error for a check (connect(2), ip(7), icmp(7)).
///
/// This type alone decides what the code means and which side causes it. A call that the kernel refuses immediately
/// never sends a packet: the local route is missing, and the check is `unreachable`. A later error was reported by a
/// router or the host, or follows from a neighbour that does not respond: the check is `down`, unless the caller learns
/// from the engine that the local route was lost meanwhile.
package struct SocketFailure: Error, Equatable {
  /// The errno.
  let code: Int32
  /// Whether the call itself was refused, before anything was sent.
  let isImmediate: Bool

  /// A refusal by the call itself.
  static func immediate(_ code: Int32) -> SocketFailure { SocketFailure(code: code, isImmediate: true) }
  /// An error that the socket reports later (SO_ERROR).
  static func later(_ code: Int32) -> SocketFailure { SocketFailure(code: code, isImmediate: false) }

  var reason: Reason {
    switch code {
    case ENETUNREACH: .networkUnreachable
    // A host without the protocol (ICMP code 2), or one that the network reports as down or unknown. EOPNOTSUPP is from
    // ICMP code 5, source route failed (`icmp_err_convert` in net/ipv4/icmp.c).
    case EHOSTUNREACH, EHOSTDOWN, ENONET, ENOPROTOOPT, EPROTO: .hostUnreachable
    case EOPNOTSUPP where !isImmediate: .hostUnreachable
    case ECONNREFUSED: .refused
    // EPERM is from the packet filter, EACCES from a prohibit route or an ICMP "administratively prohibited".
    case EACCES, EPERM: .prohibited
    case ETIMEDOUT: .connectTimeout
    case ECONNRESET, EPIPE, ECONNABORTED: .reset
    // The route type blackhole; this program ensures that all other arguments are valid.
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
    // An immediate refusal can also come from the host itself: on loopback the kernel sends it.
    return isImmediate && code != ECONNREFUSED ? .unreachable : .down
  }

  /// The kernel's text, and its origin.
  var detail: String {
    if reason == .descriptorLimit { return Self.descriptorAdvice(code) }
    if Self.isResourceExhaustion(code) {
      return "this machine is short of descriptors, ports or memory: \(Self.message(code))"
    }
    if isImmediate { return "the kernel refused to send: \(Self.message(code))" }
    // strerror describes the errno and not the ICMP message.
    if code == EOPNOTSUPP { return "a router reported: source route failed (ICMP type 3, code 5)" }
    return Self.message(code)
  }

  /// Which limit to raise when no descriptor is left: the process's own limit, or that of the system.
  static func descriptorAdvice(_ code: Int32) -> String {
    code == ENFILE
      ? "no descriptor left in the system: raise fs.file-max (sysctl)"
      : "no descriptor left in this process: raise the limit of open files (LimitNOFILE=, ulimit -n)"
  }

  /// Whether an error concerns this process and not the target.
  private static func isResourceExhaustion(_ code: Int32) -> Bool {
    // EADDRINUSE: bind(2) finds no free port for a source, where a socket without a port is not possible.
    [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRINUSE].contains(code)
  }

  package static func message(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

  var finding: ProberResult { ProberResult(state, reason, detail: detail) }
}
