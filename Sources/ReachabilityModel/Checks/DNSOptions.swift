/// One DNS question's transport and what its answer must be.
public struct DNSOptions: Hashable, Sendable {
  /// The response codes that have names (RFC 1035 §4.1.1, RFC 2136 §2.2), by their numbers from 0 on.
  public static let responseCodes = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
    "NOTZONE",
  ]

  /// Over TCP rather than UDP.
  public var usesTCP = false
  /// Whether the server is asked to ask others (RFC 1035 §4.1.1, RD).
  public var recursion = true
  /// The response codes that count as an answer, in upper case: `NOERROR`, `NXDOMAIN`.
  public var expectCodes: [String] = ["NOERROR"]
  /// A regular expression that at least one answer's data must match; nil for any, also for none.
  public var expectAnswer: String?

  /// What is asked where a target names nothing but the server, as blackbox_exporter's do (`/probe`); nil for nothing.
  public var question: DNSQuestion?

  /// A question over UDP that expects NOERROR.
  public init() {}
}
