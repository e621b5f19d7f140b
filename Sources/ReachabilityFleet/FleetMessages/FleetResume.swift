/// The decision what a subscriber receives that continues after an id.
public enum FleetResume: Hashable, Sendable {
  /// The events after the number.
  case replay
  /// It is not known yet: the replica has not read that message, or everything that the present stream has. It waits,
  /// some seconds.
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
  /// A replica that has the event continues, whatever the engine has by now: if the replica finds another stream later,
  /// its subscribers continue after an id again. Only a replica that has read the whole stream can deny an id.
  ///
  /// - Parameters:
  ///   - id: the last event that the subscriber has.
  ///   - epoch: the epoch of the present stream.
  ///   - folded: the stream sequence of the last message that the replica has read.
  ///   - isComplete: whether the replica has read everything that the present stream has.
  ///   - oldest: the number after which the replica has all events.
  ///   - check: the check of the event with a number; nil when there is no event with it, or its check is not kept.
  public init(
    after id: FleetEventID, epoch: UInt32, folded: UInt64, isComplete: Bool, oldest: UInt64,
    check: (UInt64) -> UInt32?
  ) {
    let isKept = id.epoch == epoch && id.number >= oldest
    let check = check(id.number)
    // The event before the oldest is not kept, and its check may not be; everything after it is.
    if isKept, check == id.check || check == nil && id.number == oldest {
      self = .replay
    } else if !isComplete || id.epoch == epoch && id.sequence > folded {
      self = .wait
    } else {
      self = .gap(isKept || id.epoch != epoch ? .otherHistory : .tooOld)
    }
  }
}
