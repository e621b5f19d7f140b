internal import Logging
internal import MicroHTTP
internal import NetworkReachability
internal import StatusAPI

/// One key of the configuration: its path in the file, its environment variable, and how its text becomes a value.
struct Setting: Sendable {
  /// The path with dots: `log.level`.
  var path: String
  /// Whether the file may give a list, and the environment a comma-separated one.
  var isList = false
  /// What a value must be, for complaints: `a duration such as 10ms`.
  var expectation: String
  /// Puts the texts into the configuration; false when they are not what is expected.
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

  /// Every setting there is.
  ///
  /// Files, environment, flags and `config check` all go by this table.
  static let all: [Setting] = [
    Setting(
      path: "listen", isList: true,
      expectation: "an address with port, such as 127.0.0.1:8080 or [::1]:0, or unix:/path"
    ) {
      let addresses = $1.compactMap { try? ListenAddress(parsing: $0) }
      guard !addresses.isEmpty, addresses.count == $1.count else { return false }
      // A variable or a flag says where; what is special there, the file has said.
      let written = $0.listeners
      $0.listeners = addresses.map { address in written.first { $0.address == address } ?? Listener(address) }
      return true
    },
    Setting(path: "log.level", expectation: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))") {
      set(&$0, \.logLevel, Logger.Level(rawValue: $1.first ?? ""))
    },
    Setting(path: "log.format", expectation: "text or json") {
      set(&$0, \.logFormat, LogOutput.Format(rawValue: $1.first ?? ""))
    },
    Setting(path: "log.access", expectation: "true or false") {
      set(&$0, \.logsAccess, ["true": true, "false": false][$1.first ?? ""])
    },
    duration("settle", \.settle, upTo: .seconds(60)),
    duration("drainDelay", \.drainDelay, upTo: .seconds(600)),
    duration("grace", \.grace, upTo: .seconds(3600)),
    Setting(path: "allowedHosts", isList: true, expectation: "host names") {
      guard $1.allSatisfy({ !$0.isEmpty && !$0.contains { "/:*,; ".contains($0) } }) else { return false }
      $0.allowedHosts = $1
      return true
    },
    Setting(path: "streams", expectation: "one of \(StreamMode.allCases.map(\.rawValue).joined(separator: ", "))") {
      set(&$0, \.streams, StreamMode(rawValue: $1.first ?? ""))
    },
    Setting(
      path: "allowedOrigins", isList: true, expectation: "origins as browsers send them, such as https://a.example"
    ) {
      guard $1.allSatisfy(isOrigin) else { return false }
      $0.allowedOrigins = $1
      return true
    },
    Setting(path: "access.reads", expectation: "open or token") {
      set(&$0, \.access.reads, AccessPolicy.Rule(rawValue: $1.first ?? ""))
    },
    Setting(path: "access.checks", expectation: "open or token") {
      set(&$0, \.access.checks, AccessPolicy.Rule(rawValue: $1.first ?? "").map(Optional.some))
    },
    file("tls.certificate", \.tls.certificate),
    file("tls.key", \.tls.key),
    Setting(path: "tls.strictTransport", expectation: "a duration up to a year, such as 8760h; 0s to end it") {
      set(&$0, \.strictTransport, $1.first.flatMap { DurationText.parse($0) }.map(Optional.some))
    },
    file("tokensFile", \.tokensFile),
    number("limits.connections", \.connectionLimit, 1...1_000_000),
    number("limits.connectionsPerAddress", \.connectionsPerAddress, 0...1_000_000),
    number("limits.streams", \.streamLimit, 1...1_000_000),
    number("limits.requestBody", \.requestBodyLimit, 0...(16 << 20)),
    Setting(path: "resolver.servers", isList: true, expectation: "addresses of name servers, such as 127.0.0.1:53") {
      $0.nameServers = $1
      return $1.allSatisfy { server in
        if IPAddress(server) != nil { return true }
        // `localhost`, which a listening address may be, is no address to the resolver; nor does a server have port 0.
        guard let address = try? ListenAddress(parsing: server), address.port > 0 else { return false }
        return server == address.description
      }
    },
    duration("resolver.timeout", \.resolverTimeout, from: .milliseconds(1), upTo: .seconds(60)),
  ]

  /// Scheme, host and perhaps a port, in lower case and nothing behind: exactly what a browser compares by.
  @Sendable private static func isOrigin(_ text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://"), ["http", "https"].contains(text[..<scheme.lowerBound]) else {
      return false
    }
    let host = text[scheme.upperBound...]
    return !host.isEmpty
      && host.utf8.allSatisfy { byte in
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || ".-:[]".utf8.contains(byte)
      }
  }

  private static func set<Value>(
    _ configuration: inout Configuration, _ key: WritableKeyPath<Configuration, Value>, _ value: Value?
  ) -> Bool {
    guard let value else { return false }
    configuration[keyPath: key] = value
    return true
  }

  private static func duration(
    _ path: String, _ key: any WritableKeyPath<Configuration, Duration> & Sendable, from least: Duration = .zero,
    upTo most: Duration
  ) -> Setting {
    let range = least...most
    let bounds = "\(DurationText.shortest(least)) to \(DurationText.shortest(most))"
    return Setting(path: path, expectation: "a duration from \(bounds), such as 500ms or 5s") {
      set(&$0, key, $1.first.flatMap { DurationText.parse($0) }.flatMap { range.contains($0) ? $0 : nil })
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
    Setting(path: path, expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
      set(&$0, key, $1.first.flatMap { Int($0) }.flatMap { range.contains($0) ? Optional($0) : nil })
    }
  }
}
