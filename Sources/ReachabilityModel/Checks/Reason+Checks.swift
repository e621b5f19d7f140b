// The reasons that only an active check can give; the others are the route's and the resolver's.
extension Reason {
  /// ICMP or the kernel said that the network cannot be reached (ENETUNREACH).
  public static let networkUnreachable = Reason(rawValue: "networkUnreachable")
  /// ICMP or the neighbour discovery said that the host cannot be reached (EHOSTUNREACH).
  public static let hostUnreachable = Reason(rawValue: "hostUnreachable")
  /// The host is there and nothing listens (ECONNREFUSED).
  public static let refused = Reason(rawValue: "refused")
  /// Nobody answered the attempt to connect.
  public static let connectTimeout = Reason(rawValue: "connectTimeout")
  /// The peer broke the connection (ECONNRESET, EPIPE), or closed it before it had answered.
  public static let reset = Reason(rawValue: "reset")
  /// The TLS handshake failed for another reason than the certificate.
  public static let tlsHandshake = Reason(rawValue: "tlsHandshake")
  /// The certificate has expired, is not yet valid, or expires too soon.
  public static let certificateExpired = Reason(rawValue: "certificateExpired")
  /// The certificate's chain leads to no authority that is trusted.
  public static let certificateUntrusted = Reason(rawValue: "certificateUntrusted")
  /// The certificate is for other names.
  public static let certificateNameMismatch = Reason(rawValue: "certificateNameMismatch")
  /// The HTTP status is none of those expected.
  public static let httpStatus = Reason(rawValue: "httpStatus")
  /// Body or header fields are not as expected.
  public static let httpBody = Reason(rawValue: "httpBody")
  /// Connected, but what was expected did not come; no echo came back; the answer was no answer.
  public static let noReply = Reason(rawValue: "noReply")
  /// More echoes were lost than allowed.
  public static let packetLoss = Reason(rawValue: "packetLoss")
  /// It answered, but took longer than allowed.
  public static let slow = Reason(rawValue: "slow")
  /// The deadline passed after the connection was made.
  public static let timeout = Reason(rawValue: "timeout")
  /// The policy does not let this caller contact this address.
  public static let policyDenied = Reason(rawValue: "policyDenied")
  /// The process or the system has no descriptor left for the check (EMFILE, ENFILE).
  public static let descriptorLimit = Reason(rawValue: "descriptorLimit")
  /// The caller or the end of the service ended the check.
  public static let cancelled = Reason(rawValue: "cancelled")
}
