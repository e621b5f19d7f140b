internal import EmbeddedHTTPServer
internal import NetworkReachability

/// The settings `fleet.*`, which `reachd-fleet` uses and `reachd` ignores.
package struct FleetConfiguration: Sendable, Equatable {
  /// The id of this agent or replica; nil if it is not set.
  package var id: String?
  /// The zone, whose agents fail together; empty for none.
  package var zone = ""
  /// Labels that placements select by.
  package var labels: [String: String] = [:]
  package var servers: [String] = []
  /// The file that proves the user; nil for none, or the one in the servers' URLs.
  package var credentialsFile: String?
  /// The file with the certificates of the authorities of the servers; nil for those of the system.
  package var authorityFile: String?
  /// Whether a replica uses servers with which an agent can publish as any other.
  package var permitsUnsafeServers = false
  /// Where other agents check this one: `tcp://192.0.2.7:8080`; nil when they do not.
  package var address: String?

  package static func isMemberID(_ text: String) -> Bool { Setting.isMemberID(text) }

  /// What a member of a fleet cannot be without.
  package var missing: [ConfigurationError] {
    var errors: [ConfigurationError] = []
    if id == nil {
      errors.append(
        ConfigurationError(
          location: "configuration", path: "fleet.id", problem: "the id of this member of the fleet is missing",
          hint: "expected a name that no other member has, such as the host name: node1"))
    }
    if servers.isEmpty {
      errors.append(
        ConfigurationError(
          location: "configuration", path: "fleet.servers", problem: "the servers of the engine are missing",
          hint: "expected URLs such as [nats://192.0.2.10:4222]"))
    }
    return errors
  }
}

extension Setting {
  /// The longest id in bytes: host names, and with them the names of most Kubernetes nodes, have labels of at most 63.
  private static let longestID = 63

  /// The settings of a member of a fleet.
  static let fleet: [Setting] = [
    Setting("fleet.id", optional: \.fleet.id, memberID),
    Setting("fleet.zone", \.fleet.zone, zoneName),
    Setting(path: "fleet.labels", isList: true, expectation: "up to 16 labels NAME=VALUE, such as [rack=7, env=prod]") {
      var labels: [String: String] = [:]
      for text in $1 {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        // A comma separates labels in environment variables and selectors.
        guard parts.count == 2, isName(parts[0]), parts[1].utf8.count <= 63, !parts[1].contains(",") else {
          return false
        }
        guard labels.updateValue(parts[1], forKey: parts[0]) == nil else { return false }
      }
      guard labels.count <= 16 else { return false }
      $0.fleet.labels = labels
      return true
    },
    Setting(
      path: "fleet.servers", isList: true, expectation: "up to 16 URLs nats://HOST:PORT or tls://HOST:PORT"
    ) {
      guard (1...16).contains($1.count), $1.allSatisfy(isEngineURL) else { return false }
      $0.fleet.servers = $1
      return true
    },
    Setting(
      "fleet.credentialsFile", optional: \.fleet.credentialsFile,
      path("the path of a file with a JWT and seed, or with a seed and public key")),
    Setting(
      "fleet.ca", optional: \.fleet.authorityFile, path("the path of a file with certificates of authorities, PEM")),
    Setting("fleet.permitUnsafeServers", \.fleet.permitsUnsafeServers, .boolean),
    Setting(path: "fleet.address", expectation: "how other agents reach this one: tcp://HOST:PORT or icmp://HOST") {
      guard let text = $1.first.map(canonicalAddress), let target = try? CheckTarget(text),
        [.tcp, .icmp].contains(target.scheme)
      else { return false }
      $0.fleet.address = text
      return true
    },
  ]

  /// The address with the brackets that its family needs: the manifests of an orchestrator insert an address of either family
  /// before the port (``ListenAddress/init(parsing:)``).
  @Sendable private static func canonicalAddress(_ text: String) -> String {
    let scheme = "tcp://"
    guard text.hasPrefix(scheme), let address = try? ListenAddress(parsing: String(text.dropFirst(scheme.count))),
      address.path == nil, address.host != "127.0.0.1"
    else { return text }
    return scheme + address.description
  }

  private static let memberID = FieldFormat(
    "up to \(longestID) of a-z, 0-9, dot, underscore and hyphen, first a letter or digit, such as node1"
  ) { isMemberID($0) ? $0 : nil }

  private static let zoneName = FieldFormat(
    "up to 63 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit, such as eu-1"
  ) { $0.isEmpty || isName($0) && $0.utf8.count <= 63 ? $0 : nil }

  fileprivate static func isMemberID(_ text: String) -> Bool { isName(text) && text.utf8.count <= longestID }

  /// An id that begins with a letter or digit.
  private static func isName(_ text: String) -> Bool {
    TargetSpec.isID(text) && text.first.map { $0.isLetter || $0.isNumber } ?? false
  }

  /// A scheme, optionally a user and a password, a host and a port.
  @Sendable private static func isEngineURL(_ text: String) -> Bool {
    guard let scheme = ["nats://", "tls://"].first(where: text.hasPrefix), text.utf8.count <= 500 else { return false }
    let authority = text.dropFirst(scheme.count)
    let address = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
      return false
    }
    return port > 0 && colon > address.startIndex && !address.contains { $0 == "/" || $0.isWhitespace }
  }
}
