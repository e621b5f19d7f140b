/// The limits of the fleet.
public enum FleetLimits {
  /// Changes or base cells of a message: with long names below ``messageBytes``, and one replicated write.
  public static let changesPerMessage = 256
  /// Bytes of a message; the engine's own limit is 1 MiB, and short messages delay others less.
  public static let messageBytes = 128 * 1024
  /// Events that wait for the engine; beyond, only the last change of each target is kept.
  public static let outboxEvents = 100_000
  /// Bytes of events that wait for the engine; beyond, only the last change of each target is kept.
  public static let outboxBytes = 64 * 1024 * 1024
  /// Acknowledged events that are published again after the engine lost its stream.
  public static let repeatedEvents = 10_000
  /// The agents that a verdict names; the matrix has all of them.
  public static let namedAgents = 16
  /// The time without a heartbeat after which a replica reports an agent as lost: three heartbeats.
  public static let silence = Duration.seconds(6)
  /// The time between two heartbeats.
  public static let heartbeatInterval = Duration.seconds(2)
  /// The time between two bases of an agent, before jitter; longer with many cells.
  public static let baseInterval = Duration.seconds(15 * 60)
  /// The time between two handshakes of an agent that has nothing to publish.
  public static let idleHandshakeInterval = Duration.seconds(60)
  /// The time for which `down` is kept after its rule has failed, so that one result cannot alternate it.
  public static let downHold = Duration.seconds(2)
  /// The delay of each replica behind the one ranked before it.
  public static let proposalDelay = Duration.milliseconds(250)
  /// The time for which a cell counts at its old agent while the new one has no result.
  public static let handOver = Duration.seconds(15)
}
