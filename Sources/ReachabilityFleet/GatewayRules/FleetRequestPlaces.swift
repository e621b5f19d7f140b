/// The requests that wait for their replies, each of which occupies a thread.
///
/// One agent that does not answer leaves places for the questions to the others.
public struct FleetRequestPlaces: Sendable {
  /// All requests: those of a check by the most agents, and others.
  static let limit = 48
  /// The requests to one agent.
  static let limitPerAgent = 4

  private var count = 0
  private var waiting: [FleetSubject: Int] = [:]

  /// Creates places that are free.
  public init() {}

  /// Takes a place for a request on a subject.
  ///
  /// - Returns: whether there was one; ``release(_:)`` has to follow then.
  public mutating func take(_ subject: FleetSubject) -> Bool {
    guard count < Self.limit else { return false }
    if case .ask = subject {
      let waiting = waiting[subject, default: 0]
      guard waiting < Self.limitPerAgent else { return false }
      self.waiting[subject] = waiting + 1
    }
    count += 1
    return true
  }

  /// Releases the place of a request that has ended.
  public mutating func release(_ subject: FleetSubject) {
    count = max(0, count - 1)
    guard let waiting = waiting[subject] else { return }
    self.waiting[subject] = waiting > 1 ? waiting - 1 : nil
  }
}
