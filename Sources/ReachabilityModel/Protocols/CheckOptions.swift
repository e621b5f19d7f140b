/// The options of a prober, with what the service needs to know about the modules that have them (ADR 73).
///
/// `Probers` performs the checks: a ``dialogue`` without further code, another protocol by its `ProberOptions`.
package protocol CheckOptions: Hashable, Sendable {
  /// The name of the prober in a configuration file.
  static var prober: String { get }
  /// The schemes of targets; the first one is that of a target without a scheme (`/probe`).
  static var schemes: [CheckTarget.Scheme] { get }
  /// The keys of a module in a configuration file, besides `prober` and `ip`.
  static var keys: [String] { get }

  /// Creates the options of a built-in module.
  init()
  /// Reads a module of a configuration file.
  mutating func read(_ fields: inout some CheckOptionFields)

  /// Whether requests contain data of the configuration file.
  ///
  /// The method (letters only), sizes, counts and expectations for answers are not secrets.
  var sendsConfiguredData: Bool { get }
  /// Whether the application must answer, after a connection or a TLS session.
  var expectsAnswer: Bool { get }
  /// The check as a dialogue over TCP; nil for another protocol.
  var dialogue: TCPOptions? { get }
  /// The requirements for a certificate; nil without TLS.
  var handshake: TLSOptions? { get }
  /// The series of a result for `/probe`, besides those of all protocols.
  func series(_ result: CheckResult) -> [ProbeSeries]
}

extension CheckOptions {
  package mutating func read(_ fields: inout some CheckOptionFields) {}
  package var sendsConfiguredData: Bool { false }
  package var expectsAnswer: Bool { dialogue?.expect != nil }
  package var dialogue: TCPOptions? { nil }
  package var handshake: TLSOptions? { nil }
  package func series(_ result: CheckResult) -> [ProbeSeries] { [] }

  func equals(_ other: any CheckOptions) -> Bool { self == other as? Self }
}

/// The fields of a module in a configuration file.
///
/// A function returns nil if the field is absent, or if its value is invalid, which it reports.
package protocol CheckOptionFields {
  mutating func value<Value>(_ key: String, _ format: FieldFormat<Value>) -> Value?
  /// Reads a regular expression (PCRE2).
  mutating func pattern(_ key: String) -> String?
  /// Reads a list, of which `example` is one.
  mutating func list<Value>(_ key: String, _ example: String, of format: FieldFormat<Value>) -> [Value]?
  /// Reads header fields of HTTP; their values are texts to send, or regular expressions.
  mutating func headers(_ key: String, arePatterns: Bool) -> [(name: String, value: String)]?
  /// Reports a field without another one that it requires.
  mutating func require(_ other: String, for key: String)
}

/// A gauge of `/probe`, with the name, the help and the labels that it has in blackbox_exporter.
package struct ProbeSeries: Sendable {
  package let name: String
  package let help: String
  package let samples: [(value: Double, labels: KeyValuePairs<String, String>)]

  package init(_ name: String, _ help: String, _ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    (self.name, self.help, samples) = (name, help, [(value, labels)])
  }

  /// The duration of each phase, 0 for those that were not reached.
  init(_ name: String, _ help: String, phases: KeyValuePairs<String, Duration?>) {
    (self.name, self.help) = (name, help)
    samples = phases.map { (($0.value ?? .zero) / .seconds(1), ["phase": $0.key]) }
  }

  /// Whether an expression did not match.
  static func regexFailure(_ isFailure: Bool) -> ProbeSeries {
    ProbeSeries("probe_failed_due_to_regex", "Indicates if probe failed due to regex", isFailure ? 1 : 0)
  }
}
