/// The transport of one DNS query and the expectations for its answer.
public struct DNSOptions: Hashable, Sendable {
  /// The response codes that have names (RFC 1035 §4.1.1, RFC 2136 §2.2), indexed by their numbers.
  public static let responseCodes = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
    "NOTZONE",
  ]

  /// Whether the query uses TCP instead of UDP.
  public var usesTCP = false
  /// Whether recursion is desired (RFC 1035 §4.1.1, RD).
  public var recursion = true
  /// The response codes that count as success, in upper case: `NOERROR`, `NXDOMAIN`.
  public var expectCodes: [String] = ["NOERROR"]
  /// A regular expression that the data of at least one answer must match; nil accepts any answer and none.
  public var expectAnswer: String?

  /// The question for targets that name only the server, as blackbox_exporter's do (`/probe`); nil for none.
  public var question: DNSQuestion?

  /// Creates options for a question over UDP that expects NOERROR.
  public init() {}
}
