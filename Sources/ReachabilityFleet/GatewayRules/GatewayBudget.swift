/// What each agent may still request of this replica: token buckets, whose time is an input.
public struct GatewayBudget: Sendable {
  private struct Bucket: Sendable {
    var level: Double
    var time: Duration

    /// Takes an amount; returns how long to wait if it is not there.
    mutating func take(_ amount: Double, _ rate: GatewayRate, at now: Duration) -> Duration? {
      level = min(rate.burst, level + rate.perSecond * max(0, (now - time) / .seconds(1)))
      time = now
      guard level < amount, level < rate.burst else {
        level -= amount
        return nil
      }
      return .seconds((min(amount, rate.burst) - level) / rate.perSecond)
    }
  }

  private struct Agent: Sendable {
    var requests: Bucket
    var bytes: Bucket
    var changes: Bucket
    var memberships: Bucket
    /// When its last answer said that the budget is used up.
    var notice: Duration?
    /// When its last `hello` with other attributes was stored.
    var helloChange: Duration?
    var underWay = 0
    /// When it sent its last request.
    var activity: Duration
  }

  /// The decision about a request.
  public enum Admission: Hashable, Sendable {
    /// It is handled; ``finish(_:bytes:)`` follows.
    case admitted
    /// It is answered with ``GatewayAnswer/slowDown(_:)``.
    case slowDown(Duration)
    /// It is not answered.
    case dropped
  }

  private var agents: [String: Agent] = [:]
  private var bytesUnderWay = 0

  /// Creates full budgets.
  public init() {}

  /// Decides about a request from its size alone, before it is decoded.
  public mutating func admit(_ agent: String, bytes: Int, at now: Duration) -> Admission {
    guard makePlace(for: agent, at: now) else { return .dropped }
    var state = agents[agent] ?? Self.full(at: now)
    state.activity = now
    defer { agents[agent] = state }
    let isBusy =
      state.underWay >= GatewayLimits.concurrentRequests || bytesUnderWay + bytes > GatewayLimits.concurrentBytes
    let wait =
      isBusy
      ? GatewayLimits.notice
      : state.requests.take(1, GatewayLimits.requests, at: now)
        ?? state.bytes.take(Double(bytes), GatewayLimits.bytes, at: now)
    guard let wait else {
      state.underWay += 1
      bytesUnderWay += bytes
      return .admitted
    }
    if let notice = state.notice, now - notice < GatewayLimits.notice { return .dropped }
    state.notice = now
    // An agent that waits so long is answered whenever its budget is used up again.
    return .slowDown(Self.clamped(max(wait, GatewayLimits.notice)))
  }

  /// The request was answered.
  public mutating func finish(_ agent: String, bytes: Int) {
    agents[agent]?.underWay -= 1
    bytesUnderWay -= bytes
  }

  /// Takes the changes or cells of a message; returns how long to wait when there are too many.
  public mutating func take(changes: Int, of agent: String, at now: Duration) -> Duration? {
    agents[agent]?.changes.take(Double(changes), GatewayLimits.changes, at: now).map(Self.clamped)
  }

  /// Takes a `hello` or `bye`; returns how long to wait when there were too many.
  public mutating func takeMembership(of agent: String, changes: Bool, at now: Duration) -> Duration? {
    if changes {
      if let last = agents[agent]?.helloChange, now - last < GatewayLimits.helloChange {
        return Self.clamped(GatewayLimits.helloChange - (now - last))
      }
      agents[agent]?.helloChange = now
    }
    return agents[agent]?.memberships.take(1, GatewayLimits.memberships, at: now).map(Self.clamped)
  }

  /// Without permissions in the engine, clients can have any number of ids: those that are idle for longest are discarded.
  private mutating func makePlace(for agent: String, at now: Duration) -> Bool {
    guard agents.count >= GatewayLimits.agents, agents[agent] == nil else { return true }
    // By then every bucket is full again.
    let longest = Duration.seconds(GatewayLimits.memberships.burst / GatewayLimits.memberships.perSecond)
    agents = agents.filter { $0.value.underWay > 0 || now - $0.value.activity < longest }
    return agents.count < GatewayLimits.agents
  }

  private static func full(at now: Duration) -> Agent {
    func bucket(_ rate: GatewayRate) -> Bucket { Bucket(level: rate.burst, time: now) }
    return Agent(
      requests: bucket(GatewayLimits.requests), bytes: bucket(GatewayLimits.bytes),
      changes: bucket(GatewayLimits.changes), memberships: bucket(GatewayLimits.memberships), activity: now)
  }

  private static func clamped(_ wait: Duration) -> Duration {
    min(max(wait, GatewayLimits.wait.shortest), GatewayLimits.wait.longest)
  }
}
