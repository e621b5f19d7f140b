internal import ReachabilityFleet

/// What became of the requests of agents.
struct GatewayCounts: Sendable {
  var stored: UInt64 = 0
  var answered: UInt64 = 0
  var refused: UInt64 = 0
  var slowedDown: UInt64 = 0
  var rejected: UInt64 = 0
  var failed: UInt64 = 0
  var dropped: UInt64 = 0

  var outcomes: [(name: String, count: UInt64)] {
    [
      ("stored", stored), ("answered", answered), ("refused", refused), ("slowedDown", slowedDown),
      ("rejected", rejected), ("failed", failed), ("dropped", dropped),
    ]
  }

  mutating func add(_ answer: GatewayAnswer) {
    switch answer {
    case .stored: stored &+= 1
    case .refused, .duplicate: refused &+= 1
    case .slowDown: slowedDown &+= 1
    case .rejected: rejected &+= 1
    case .failed: failed &+= 1
    case .last, .confirmed, .roster, .missing: answered &+= 1
    }
  }
}
