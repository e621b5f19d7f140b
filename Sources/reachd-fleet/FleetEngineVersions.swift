internal import NATSClient

/// The versions of nats-server with which the permissions of agents hold (ADR 60).
enum FleetEngineVersions {
  private static let oldest = NATSServerVersion(2, 10, 25)
  /// These publish a message wherever a client's header `Nats-Trace-Dest` says.
  private static let traced = NATSServerVersion(2, 11, 0)...NATSServerVersion(2, 12, 5)

  /// Why a server is not used; nil to use it.
  static func problem(_ version: NATSServerVersion, isPermitted: Bool) -> String? {
    if version < oldest { return "nats-server \(version) is older than \(oldest)" }
    guard traced.contains(version), !isPermitted else { return nil }
    return """
      with nats-server \(version) an agent can publish as any other (Nats-Trace-Dest); use \(oldest) or later, but not \
      \(traced.lowerBound) to \(traced.upperBound), or set fleet.permitUnsafeServers if every agent is trusted
      """
  }
}
