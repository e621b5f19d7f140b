/// A TCP connection, optionally with a short dialogue.
public struct TCPOptions: Hashable, Sendable {
  /// The text to send after connecting; nil for none.
  public var send: String?
  /// A regular expression (PCRE2) that the received data must match; nil if connecting is enough.
  public var expect: String?

  /// Creates options for a connection; with `send` and `expect`, for a dialogue.
  public init(send: String? = nil, expect: String? = nil) {
    self.send = send
    self.expect = expect
  }
}

extension CheckModule.Options {
  /// A TCP connection.
  public static func tcp(_ options: TCPOptions) -> Self { Self(options) }
}

extension TCPOptions: CheckOptions {
  package static let prober = "tcp"
  package static let schemes = [CheckTarget.Scheme.tcp]
  package static let keys = ["send", "expect", "hosts", "addresses"]

  package init() { self.init(send: nil) }

  package mutating func read(_ fields: inout some CheckOptionFields) {
    send = fields.value("send", .text)
    expect = fields.pattern("expect")
  }

  package var sendsConfiguredData: Bool { send != nil }

  package var dialogue: TCPOptions? { self }

  /// The dialogue completed: a timeout or a broken connection leaves no response to match.
  package func series(_ result: CheckResult) -> [ProbeSeries] {
    [.regexFailure(result.state == .down && result.duration(of: .processing) != nil)]
  }
}
