internal import Logging
internal import HTTPRouting
internal import NetworkReachability
internal import StatusAPI

/// One key of the configuration: its path in the file, its environment variable, and the conversion of its text.
struct Setting: Sendable {
  /// The path with dots: `log.level`.
  var path: String
  /// Whether the value is a list: a sequence in the file, a comma-separated text in the environment.
  var isList = false
  /// The expected value, for error messages: `a duration such as 10ms`.
  var expectation: String
  /// Stores the texts in the configuration; returns false when they are invalid.
  var apply: @Sendable (inout Configuration, [String]) -> Bool

  /// `REACHD_` and the path in upper snake case: `REACHD_LOG_LEVEL`, `REACHD_DRAIN_DELAY`.
  var variable: String {
    path.reduce(into: "REACHD_") { name, character in
      if character == "." {
        name += "_"
      } else {
        if character.isUppercase { name += "_" }
        name += character.uppercased()
      }
    }
  }

  /// All settings.
  ///
  /// Files, environment, flags and `config check` use this table.
  static let all: [Setting] = general + store + fleet

  private static let general: [Setting] = [
    Setting(
      path: "listen", isList: true,
      expectation: "an address with port, such as 127.0.0.1:8080 or [::1]:0, or unix:/path"
    ) {
      let addresses = $1.compactMap { try? ListenAddress(parsing: $0) }
      guard !addresses.isEmpty, addresses.count == $1.count else { return false }
      // A variable or a flag gives the addresses only; the rules of an address come from the file.
      let written = $0.listeners
      $0.listeners = addresses.map { address in
        written.first { $0.address == address } ?? ListenerConfiguration(address)
      }
      return true
    },
    Setting("log.level", \.logLevel, .choice),
    Setting("log.format", \.logFormat, FieldFormat("text or json") { LineLogHandler.Format(rawValue: $0) }),
    Setting("log.access", \.logsAccess, .boolean),
    Setting("settle", \.settle, duration(upTo: .seconds(60))),
    Setting("drainDelay", \.drainDelay, duration(upTo: .seconds(600))),
    Setting("grace", \.grace, duration(upTo: .seconds(3600))),
    Setting(
      "allowedHosts", list: \.allowedHosts, "host names as clients send them, in ASCII (xn--…), without port", isHost),
    Setting("streams", \.streams, .choice),
    Setting(
      "allowedOrigins", list: \.allowedOrigins,
      "origins as browsers send them, such as https://a.example or https://a.example:8443, but no :443"
    ) { ConfiguredOrigin.isOrigin($0) },
    Setting("access.reads", \.access.reads, rule),
    Setting("access.checks", optional: \.access.checks, rule),
    Setting("access.badges", \.badges, rule),
    Setting("access.gates", \.gateStates, rule),
    Setting("page", \.servesPage, FieldFormat("on or off") { ["on": true, "off": false][$0] }),
    Setting("tls.certificate", optional: \.tls.certificate, file),
    Setting("tls.key", optional: \.tls.key, file),
    Setting("tls.strictTransport", optional: \.strictTransport, strictTransport),
    Setting("tokensFile", optional: \.tokensFile, file),
    Setting("watchConfiguration", \.watchesFile, .boolean),
    Setting("limits.connections", optional: \.connectionLimit, .integer(1...1_000_000)),
    Setting("limits.connectionsPerAddress", optional: \.connectionsPerAddress, .integer(0...1_000_000)),
    Setting("limits.streams", optional: \.streamLimit, .integer(1...1_000_000)),
    Setting("limits.targets", optional: \.targetLimit, .integer(0...100_000)),
    Setting("limits.checksPerSecond", optional: \.checksPerSecond, .integer(0...1_000_000)),
    Setting("limits.changesPerSecond", optional: \.changesPerSecond, .integer(0...1_000_000)),
    Setting("limits.requestBody", optional: \.requestBodyLimit, .integer(0...(16 << 20))),
    Setting(
      path: "metrics.targetLabels", isList: true,
      expectation:
        "up to \(MetricLabel.limit) names of labels of targets, such as env, which differ in letters and digits; not id"
    ) {
      guard let labels = MetricLabel.list($1) else { return false }
      $0.metricLabels = labels
      return true
    },
    Setting(
      "resolver.servers", list: \.nameServers, "addresses of name servers, such as 127.0.0.1:53 or fe80::53%eth0",
      isServer),
    Setting("resolver.timeout", \.resolverTimeout, duration(from: .milliseconds(1), upTo: .seconds(60))),
  ]

  @Sendable private static func isServer(_ text: String) -> Bool {
    if IPAddress(text) != nil { return true }
    if let target = try? ReachabilityTarget(host: text), case .address(let address) = target.remote, text.first != "[" {
      return address.family == .ipv6 && address.isLinkLocal
    }
    // The resolver does not accept `localhost`, which a listening address may be, and a server has no port 0.
    guard let address = try? ListenAddress(parsing: text), address.port > 0 else { return false }
    return text == address.description
  }

  /// The characters that the host name of a request can contain.
  @Sendable private static func isHost(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"/:*,;".utf8.contains($0) }
  }

  private static let rule = FieldFormat("open or token") { AccessPolicy.Rule(rawValue: $0) }
  private static let file = path("the path of a file")
  private static let strictTransport = FieldFormat("a duration up to a year, such as 8760h; 0s to end it") { text in
    DurationFormat.parse(text)
  }

  private static func duration(from minimum: Duration = .zero, upTo maximum: Duration) -> FieldFormat<Duration> {
    .duration(minimum...maximum, example: "500ms or 5s")
  }

  /// A text that is not empty.
  static func path(_ expectation: String) -> FieldFormat<String> {
    FieldFormat(expectation) { $0.isEmpty ? nil : $0 }
  }
}

extension Setting {
  init<Value>(
    _ path: String, _ key: any WritableKeyPath<Configuration, Value> & Sendable, _ format: FieldFormat<Value>
  ) {
    self.init(path: path, expectation: format.expectation) { configuration, texts in
      guard let value = texts.first.flatMap(format.parse) else { return false }
      configuration[keyPath: key] = value
      return true
    }
  }

  init(
    _ path: String, list key: any WritableKeyPath<Configuration, [String]> & Sendable, _ expectation: String,
    _ isValid: @escaping @Sendable (String) -> Bool
  ) {
    self.init(path: path, isList: true, expectation: expectation) { configuration, texts in
      guard texts.allSatisfy(isValid) else { return false }
      configuration[keyPath: key] = texts
      return true
    }
  }

  /// A setting of one value, without a default value.
  init<Value>(
    _ path: String, optional key: any WritableKeyPath<Configuration, Value?> & Sendable, _ format: FieldFormat<Value>
  ) {
    self.init(path, key, FieldFormat(format.expectation) { format.parse($0).map(Optional.some) })
  }
}
