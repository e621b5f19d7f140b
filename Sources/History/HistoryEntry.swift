package import ReachabilityModel

/// One transition as the history has it.
public struct HistoryEntry: Sendable, Equatable {
  /// The number of its row; later entries have higher ones, also after a step of the wall clock.
  public var id: Int64
  /// The epoch of its event.
  public var epoch: String
  /// The number of its event within the epoch; 0 for a start or a stop, which is no event.
  public var sequence: UInt64
  /// When it happened, in microseconds since 1970, by the wall clock of that time.
  public var time: Int64
  /// The subject: `machine`, `interface:eth0`, `target:db`, `service`.
  public var subject: String
  /// The change.
  public var transition: TransitionRecord
}

/// Which entries of the history to read.
public struct HistoryFilter: Sendable, Equatable {
  /// The names of the subjects; empty for all.
  public var subjects: [String] = []
  /// The types; nil for all.
  package var types: Set<EventType>?
  /// The new states; nil for all.
  public var states: Set<StateCode>?
  /// The first moment, in microseconds since 1970.
  public var since: Int64 = .min
  /// The first moment after those that are selected, in microseconds since 1970.
  public var until: Int64 = .max
  /// Whether the newest come first.
  public var isDescending = true
  /// The entry after which to continue, in the order of the page.
  public var cursor: Int64?
  /// The number of entries of a page.
  public var limit = 100

  /// Selects all entries, the newest first.
  public init() {}

  func selects(_ transition: TransitionRecord) -> Bool {
    (types?.contains(transition.type) ?? true) && (states?.contains(transition.new) ?? true)
  }
}

/// A page of the history.
public struct HistoryPage: Sendable, Equatable {
  /// The entries, in the order of the filter.
  public var entries: [HistoryEntry] = []
  /// Where to continue; nil when there is no more.
  public var next: Int64?
}
