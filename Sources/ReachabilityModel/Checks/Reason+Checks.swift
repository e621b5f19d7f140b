// Reasons that only an active check can give; the others come from the route and the resolver.
extension Reason {
  /// ICMP or the kernel reported that the network is unreachable (ENETUNREACH).
  public static let networkUnreachable = Reason(rawValue: "networkUnreachable")
  /// ICMP or neighbour discovery reported that the host is unreachable (EHOSTUNREACH).
  public static let hostUnreachable = Reason(rawValue: "hostUnreachable")
  /// The host has no listener on the port (ECONNREFUSED).
  public static let refused = Reason(rawValue: "refused")
  /// The connection attempt was not answered.
  public static let connectTimeout = Reason(rawValue: "connectTimeout")
  /// The peer reset the connection (ECONNRESET, EPIPE), or closed it before it answered.
  public static let reset = Reason(rawValue: "reset")
  /// The TLS handshake failed for a reason other than the certificate.
  public static let tlsHandshake = Reason(rawValue: "tlsHandshake")
  /// The certificate has expired, is not yet valid, or expires too soon.
  public static let certificateExpired = Reason(rawValue: "certificateExpired")
  /// The certificate's chain leads to no trusted authority.
  public static let certificateUntrusted = Reason(rawValue: "certificateUntrusted")
  /// The certificate is for other names.
  public static let certificateNameMismatch = Reason(rawValue: "certificateNameMismatch")
  /// The HTTP status is none of those expected.
  public static let httpStatus = Reason(rawValue: "httpStatus")
  /// Body or header fields are not as expected.
  public static let httpBody = Reason(rawValue: "httpBody")
  /// The body is longer than the limit, and what was read does not decide the result.
  public static let bodyTooLong = Reason(rawValue: "bodyTooLong")
  /// Connected, but no expected data or echo reply arrived, or the answer was malformed.
  public static let noReply = Reason(rawValue: "noReply")
  /// More echoes were lost than allowed.
  public static let packetLoss = Reason(rawValue: "packetLoss")
  /// It answered, but took longer than allowed.
  public static let slow = Reason(rawValue: "slow")
  /// The deadline expired after the connection was established.
  public static let timeout = Reason(rawValue: "timeout")
  /// A registered target that it depends on fails (``TargetDefinition/dependsOn``); of targets only, not of one check.
  public static let dependencyDown = Reason(rawValue: "dependencyDown")
  /// The policy denies this caller this address.
  public static let policyDenied = Reason(rawValue: "policyDenied")
  /// The process or the system has no descriptor left for the check (EMFILE, ENFILE).
  public static let descriptorLimit = Reason(rawValue: "descriptorLimit")
  /// The caller, or the shutdown of the service, cancelled the check.
  public static let cancelled = Reason(rawValue: "cancelled")
}
