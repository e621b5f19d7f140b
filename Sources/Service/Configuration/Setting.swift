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
    Setting(path: "log.level", expectation: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))") {
      set(&$0, \.logLevel, Logger.Level(rawValue: $1.first ?? ""))
    },
    Setting(path: "log.format", expectation: "text or json") {
      set(&$0, \.logFormat, LineLogHandler.Format(rawValue: $1.first ?? ""))
    },
    Setting(path: "log.access", expectation: "true or false") {
      set(&$0, \.logsAccess, ["true": true, "false": false][$1.first ?? ""])
    },
    duration("settle", \.settle, upTo: .seconds(60)),
    duration("drainDelay", \.drainDelay, upTo: .seconds(600)),
    duration("grace", \.grace, upTo: .seconds(3600)),
    Setting(
      path: "allowedHosts", isList: true, expectation: "host names as clients send them, in ASCII (xn--…), without port"
    ) {
      guard $1.allSatisfy(isHost) else { return false }
      $0.allowedHosts = $1
      return true
    },
    Setting(path: "streams", expectation: "one of \(HTTPStreamMode.allCases.map(\.rawValue).joined(separator: ", "))") {
      set(&$0, \.streams, HTTPStreamMode(rawValue: $1.first ?? ""))
    },
    Setting(
      path: "allowedOrigins", isList: true,
      expectation: "origins as browsers send them, such as https://a.example or https://a.example:8443, but no :443"
    ) {
      guard $1.allSatisfy({ ConfiguredOrigin.isOrigin($0) }) else { return false }
      $0.allowedOrigins = $1
      return true
    },
    Setting(path: "access.reads", expectation: "open or token") {
      set(&$0, \.access.reads, AccessPolicy.Rule(rawValue: $1.first ?? ""))
    },
    Setting(path: "access.checks", expectation: "open or token") {
      set(&$0, \.access.checks, AccessPolicy.Rule(rawValue: $1.first ?? "").map(Optional.some))
    },
    Setting(path: "access.badges", expectation: "open or token") {
      set(&$0, \.badges, AccessPolicy.Rule(rawValue: $1.first ?? ""))
    },
    Setting(path: "page", expectation: "on or off") {
      set(&$0, \.servesPage, ["on": true, "off": false][$1.first ?? ""])
    },
    file("tls.certificate", \.tls.certificate),
    file("tls.key", \.tls.key),
    Setting(path: "tls.strictTransport", expectation: "a duration up to a year, such as 8760h; 0s to end it") {
      set(&$0, \.strictTransport, $1.first.flatMap { DurationFormat.parse($0) }.map(Optional.some))
    },
    file("tokensFile", \.tokensFile),
    Setting(path: "watchConfiguration", expectation: "true or false") {
      set(&$0, \.watchesFile, ["true": true, "false": false][$1.first ?? ""])
    },
    number("limits.connections", \.connectionLimit, 1...1_000_000),
    number("limits.connectionsPerAddress", \.connectionsPerAddress, 0...1_000_000),
    number("limits.streams", \.streamLimit, 1...1_000_000),
    number("limits.targets", \.targetLimit, 0...100_000),
    number("limits.checksPerSecond", \.checksPerSecond, 0...1_000_000),
    number("limits.changesPerSecond", \.changesPerSecond, 0...1_000_000),
    number("limits.requestBody", \.requestBodyLimit, 0...(16 << 20)),
    Setting(
      path: "metrics.targetLabels", isList: true,
      expectation:
        "up to \(MetricLabel.limit) names of labels of targets, such as env, which differ in letters and digits; not id"
    ) {
      set(&$0, \.metricLabels, MetricLabel.list($1))
    },
    Setting(
      path: "resolver.servers", isList: true,
      expectation: "addresses of name servers, such as 127.0.0.1:53 or fe80::53%eth0"
    ) {
      $0.nameServers = $1
      return $1.allSatisfy(isServer)
    },
    duration("resolver.timeout", \.resolverTimeout, from: .milliseconds(1), upTo: .seconds(60)),
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

  private static func set<Value>(
    _ configuration: inout Configuration, _ key: WritableKeyPath<Configuration, Value>, _ value: Value?
  ) -> Bool {
    guard let value else { return false }
    configuration[keyPath: key] = value
    return true
  }

  private static func duration(
    _ path: String, _ key: any WritableKeyPath<Configuration, Duration> & Sendable, from minimum: Duration = .zero,
    upTo maximum: Duration
  ) -> Setting {
    let range = minimum...maximum
    let bounds = "\(DurationFormat.shortest(minimum)) to \(DurationFormat.shortest(maximum))"
    return Setting(path: path, expectation: "a duration from \(bounds), such as 500ms or 5s") {
      set(&$0, key, $1.first.flatMap { DurationFormat.parse($0) }.flatMap { range.contains($0) ? $0 : nil })
    }
  }

  private static func file(
    _ path: String, _ key: any WritableKeyPath<Configuration, String?> & Sendable
  ) -> Setting {
    Setting(path: path, expectation: "the path of a file") {
      set(&$0, key, $1.first.flatMap { $0.isEmpty ? nil : Optional($0) })
    }
  }

  private static func number(
    _ path: String, _ key: any WritableKeyPath<Configuration, Int?> & Sendable, _ range: ClosedRange<Int>
  ) -> Setting {
    Setting(path: path, expectation: "an integer from \(range.lowerBound) to \(range.upperBound)") {
      set(&$0, key, $1.first.flatMap { Int($0) }.flatMap { range.contains($0) ? Optional($0) : nil })
    }
  }
}
