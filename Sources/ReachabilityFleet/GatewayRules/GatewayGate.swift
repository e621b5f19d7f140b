/// Whether messages of a client are received at all: a decision from the subject alone, which costs less than the message.
///
/// An agent at line rate would otherwise fill the queue in which the requests of all agents wait. The time is an input.
public struct GatewayGate: Sendable {
  private struct Client: Sendable {
    var level: Double
    var time: Duration
    var closedUntil: Duration
  }

  private let rate: GatewayRate
  private var clients: [String: Client] = [:]
  /// The messages that were not received.
  public private(set) var dropped: UInt64 = 0

  /// Creates an open gate.
  ///
  /// - Parameter rate: the messages of one subject.
  public init(_ rate: GatewayRate) { self.rate = rate }

  /// Decides about a message.
  public mutating func admits(_ subject: String, at now: Duration) -> Bool {
    if var client = clients[subject] {
      guard now >= client.closedUntil else {
        dropped &+= 1
        return false
      }
      client.level = min(rate.burst, client.level + rate.perSecond * ((now - client.time) / .seconds(1)))
      client.time = now
      let isAdmitted = client.level >= 1
      if isAdmitted { client.level -= 1 } else { dropped &+= 1 }
      clients[subject] = client
      return isAdmitted
    }
    guard makePlace(at: now) else {
      dropped &+= 1
      return false
    }
    clients[subject] = Client(level: rate.burst - 1, time: now, closedUntil: now)
    return true
  }

  /// Receives nothing of a subject until a time.
  public mutating func close(_ subject: String, until time: Duration) { clients[subject]?.closedUntil = time }

  /// Without permissions in the engine, clients can have any number of subjects: those that are idle are discarded.
  private mutating func makePlace(at now: Duration) -> Bool {
    guard clients.count >= GatewayLimits.agents else { return true }
    let longest = Duration.seconds(rate.burst / rate.perSecond)
    clients = clients.filter { now - $0.value.time < longest || now < $0.value.closedUntil }
    return clients.count < GatewayLimits.agents
  }
}
