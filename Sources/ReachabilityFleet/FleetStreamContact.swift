/// What a replica last knew of the stream.
public struct FleetStreamContact: Sendable {
  /// When the stream delivered a message, or answered and could store one; nil before that.
  public private(set) var time: Duration?
  /// The messages that the stream has and that are not folded, as far as it is known.
  public private(set) var lag: UInt64 = 0

  /// The stream has delivered a message, which so many follow.
  mutating func delivered(pending: UInt64, at now: Duration) { (time, lag) = (now, pending) }

  /// The engine has answered with the stream's state.
  mutating func answered(_ state: FleetEngineStreamState, folded sequence: UInt64, at now: Duration) {
    if state.hasQuorum { time = now }
    lag = state.last > sequence ? state.last - sequence : 0
  }
}
