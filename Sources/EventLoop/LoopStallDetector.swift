/// Decides from samples of loops which of them are stalled: in the same turn for ``Limits/stall``.
///
/// The time is what the watcher has observed. A watcher that was delayed itself, because the process was stopped or the
/// machine is overloaded, has observed one interval only: the loops were delayed as well.
struct LoopStallDetector {
  struct Sample {
    var id: ObjectIdentifier
    var name: String
    /// The number of the turn in progress; nil while the loop waits.
    var turn: UInt64?
  }

  enum Change: Equatable {
    /// It has been in one turn for this time.
    case stalled(String, Duration)
    /// It turns again, or has ended, after this time.
    case continued(String, Duration)
  }

  private struct Observation {
    var name: String
    var turn: UInt64
    var time = Duration.zero
    var isStalled: Bool { time >= Limits.stall }
  }

  private var observations: [ObjectIdentifier: Observation] = [:]
  /// By name, the number of stalls so far; names of all loops that were ever observed.
  private(set) var totals: [String: Int] = [:]

  /// By name, the longest stall in progress.
  var current: [String: Duration] {
    observations.values.filter(\.isStalled).reduce(into: [:]) { $0[$1.name] = max($0[$1.name] ?? .zero, $1.time) }
  }

  /// Compares samples with the previous ones.
  ///
  /// - Parameters:
  ///   - samples: all loops.
  ///   - elapsed: the time since the previous samples.
  /// - Returns: the loops that are stalled now, or have ceased to be.
  mutating func observe(_ samples: [Sample], elapsed: Duration) -> [Change] {
    let span = min(elapsed, Limits.watchInterval)
    var changes: [Change] = []
    var next: [ObjectIdentifier: Observation] = [:]
    for sample in samples {
      totals[sample.name, default: 0] += 0
      guard let turn = sample.turn else { continue }
      var now = Observation(name: sample.name, turn: turn)
      // The first sample of a turn does not show when it began.
      if let before = observations[sample.id], before.turn == turn {
        now.time = before.time + span
        if now.isStalled, !before.isStalled {
          totals[sample.name, default: 0] += 1
          changes.append(.stalled(sample.name, now.time))
        }
      }
      next[sample.id] = now
    }
    for (id, before) in observations where before.isStalled {
      guard next[id]?.turn != before.turn else { continue }
      changes.append(.continued(before.name, before.time))
    }
    observations = next
    return changes
  }
}
