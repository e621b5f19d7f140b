/// The limits of what agents may request of a replica.
public enum GatewayLimits {
  /// Bytes of a request: a message of the chain, and what it is wrapped in.
  public static let requestBytes = FleetLimits.messageBytes + 1024
  /// Bytes of a message that is stored: the engine's headers count towards the stream's limit.
  public static let storedBytes = FleetLimits.messageBytes - 1024
  /// Requests a second of an agent, and how many it may send together: two bases of the most cells, and the rest.
  public static let requests = GatewayRate(perSecond: 50, burst: 512)
  /// Requests a second of an agent that are received at all; those above ``requests`` are answered or dropped.
  public static let received = GatewayRate(perSecond: 100, burst: 1024)
  /// Heartbeats a second of an agent, and how many together: those that name suspects are ten a second at most.
  public static let heartbeats = GatewayRate(perSecond: 20, burst: 40)
  /// Bytes a second of an agent, and how many together: two bases of the largest parts.
  public static let bytes = GatewayRate(perSecond: 1_048_576, burst: Double(2 * 64 * requestBytes))
  /// Changes and cells a second of an agent, and how many together: those that wait after the longest outage, and a base.
  public static let changes = GatewayRate(perSecond: 2000, burst: 131_072)
  /// `hello` and `bye` a second of an agent, and how many together: each assigns targets to other agents.
  public static let memberships = GatewayRate(perSecond: 0.1, burst: 8)
  /// The least time between two `hello` of an agent whose attributes differ.
  public static let helloChange = Duration.seconds(10)
  /// The time for which an agent is asked to wait at least, and at most.
  public static let wait = (shortest: Duration.milliseconds(20), longest: Duration.seconds(10))
  /// How often an agent whose budget is used up receives an answer about it; its other requests are dropped.
  public static let notice = Duration.seconds(1)
  /// Requests of one agent that are being handled.
  public static let concurrentRequests = 4
  /// Bytes of all requests that are being handled.
  public static let concurrentBytes = 64 * 1024 * 1024
  /// Agents whose budgets are kept: several times the largest fleet.
  public static let agents = 65_536
  /// The age of a stream's state that answers a request.
  public static let stateAge = Duration.seconds(2)
  /// Bytes of a page of what an agent checks.
  public static let pageBytes = FleetLimits.messageBytes
  /// The targets in one question what became of them.
  public static let missingTargets = 256
  /// The time for which a process with the same id may answer.
  public static let pingTimeout = Duration.seconds(1)
  /// The time for which an agent waits for an answer.
  public static let patience = Duration.seconds(3)
  /// The least time between two hints to one agent.
  public static let hintInterval = Duration.seconds(1)
  /// The time between two comparisons of an agent with the stream.
  public static let confirmation = Duration.seconds(10)
}

/// A rate with a burst.
public struct GatewayRate: Hashable, Sendable {
  /// The amount that is granted in each second.
  public var perSecond: Double
  /// The amount that is granted together after a pause.
  public var burst: Double
}
