/// The decision what a subscriber receives that continues after an id.
public enum FleetResume: Hashable, Sendable {
  /// The events after the number.
  case replay
  /// The replica has not read that message yet: it waits for it, some seconds.
  case wait
  /// The event `gap` with this reason, and a snapshot.
  case gap(Reason)

  /// Why events are missing.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The events are not kept any longer.
    case tooOld
    /// The stream has lost its events since, or others are in their place.
    case otherHistory
  }

  /// Decides.
  ///
  /// - Parameters:
  ///   - id: the last event that the subscriber has.
  ///   - epoch: the epoch of the present stream.
  ///   - folded: the stream sequence of the last message that the replica has read.
  ///   - oldest: the number after which the replica has all events.
  ///   - check: the check of the event with a number; nil when there is no event with it.
  public init(
    after id: FleetEventID, epoch: UInt32, folded: UInt64, oldest: UInt64, check: (UInt64) -> UInt32?
  ) {
    if id.epoch != epoch {
      self = .gap(.otherHistory)
    } else if id.sequence > folded {
      self = .wait
    } else if id.number < oldest {
      self = .gap(.tooOld)
    } else if id.number == oldest {
      // The event itself is not kept; everything after it is.
      self = .replay
    } else {
      self = check(id.number) == id.check ? .replay : .gap(.otherHistory)
    }
  }
}
