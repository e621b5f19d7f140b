/// How the last run ended, which decides about the ids of this one.
public enum HistoryRunEnd: Hashable, Sendable {
  /// There was no run: the store is new.
  case none
  /// The process stopped its store.
  case clean
  /// The process was killed, and everything that it had published was committed; its ids continue.
  case killed
  /// Events may be lost: a power failure, a kill while the disk was not available, a copied or restored store.
  case lossy(String)
  /// The files were damaged and were set aside.
  case damaged(String)
  /// The files could not be read at the start, because the disk has failed or is full.
  case unreadable(String)

  /// Whether the ids continue.
  public var continues: Bool { self == .clean || self == .killed }

  /// Whether nothing is lost.
  public var isExpected: Bool { continues || self == .none }

  /// What is known about the last run in the database.
  struct Facts {
    /// Whether its row says that it was stopped.
    var isClean: Bool
    /// Whether the machine runs since before it.
    var isSameBoot: Bool
    var isSameFile: Bool
    var lock: Lock
    /// Its page; nil if there is none, or if it is unreadable.
    var page: Page?

    /// What the lock file says about the run that used the store last.
    enum Lock {
      /// Nothing, as 0.1.0 left it, which has also written the database last.
      case unused
      /// Nothing, although the run has written to it: it was deleted, or replaced.
      case missing
      /// It was the last run in the database; `isComplete` if the database has all that the run had when it was ended.
      case ofLastRun(isComplete: Bool)
      /// It was an earlier run: the last one was killed while it started, or could not write to the file.
      case ofEarlierRun
      /// It was a run that the database does not have.
      case ofUnknownRun
    }

    enum Page {
      /// It is that of the last run; `isComplete` if the database has the last event that was published.
      case ofLastRun(isLossy: Bool, isComplete: Bool)
      /// It is that of an earlier run, or not finished.
      case ofEarlierRun(isLossy: Bool)
      /// A run that the database does not have used it.
      case ofUnknownRun
    }
  }

  /// Decides how the last run ended.
  init(_ facts: Facts) {
    if let reason = Self.replacement(facts) {
      self = .lossy(reason)
    } else if facts.isClean {
      self = .clean
    } else if !facts.isSameBoot {
      self = .lossy("the machine ended without a shutdown of reachd")
    } else {
      self = Self.killed(facts)
    }
  }

  /// Why the database is not what the last run left; nil if it is.
  private static func replacement(_ facts: Facts) -> String? {
    guard facts.isSameFile else { return "the database file was copied or restored" }
    switch facts.lock {
    case .missing: return "the lock file was deleted or replaced, so that the database may be restored"
    case .ofUnknownRun, .ofLastRun(isComplete: false): return older
    case .unused, .ofLastRun(isComplete: true), .ofEarlierRun: break
    }
    switch facts.page {
    case .ofUnknownRun, .ofLastRun(_, isComplete: false): return older
    case .ofLastRun(_, isComplete: true), .ofEarlierRun, nil: return nil
    }
  }

  private static let older = "the database is older than the last run, as after the restoration of a backup"

  /// How a run ended in this boot that was not stopped.
  private static func killed(_ facts: Facts) -> HistoryRunEnd {
    switch (facts.page, facts.lock) {
    case (.ofLastRun(isLossy: false, _), _): .killed
    // The page and the lock file are written before the first event is published.
    case (.ofEarlierRun(isLossy: false), .ofEarlierRun): .killed
    case (.ofLastRun(isLossy: true, _), _), (.ofEarlierRun(isLossy: true), .ofEarlierRun):
      .lossy("reachd was killed while the disk was not available")
    case (.ofEarlierRun, _), (.ofUnknownRun, _), (nil, _):
      .lossy("reachd was killed, and its page in the runtime directory is missing")
    }
  }
}

extension HistoryRunEnd: CustomStringConvertible {
  /// One or more words for the log.
  public var description: String {
    switch self {
    case .none: "none"
    case .clean: "clean"
    case .killed: "killed"
    case .lossy(let reason), .damaged(let reason), .unreadable(let reason): reason
    }
  }
}
