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

  /// What is known about the last run.
  struct Facts {
    /// Whether its row says that it was stopped.
    var isClean: Bool
    /// Whether the machine runs since before it.
    var isSameBoot: Bool
    /// Whether the database file is the one that it used.
    var isSameFile: Bool
    /// Its page; nil if there is none, or if it is unreadable.
    var page: Page?

    /// What the page says.
    enum Page {
      /// It is that of the last run.
      case ofLastRun(isLossy: Bool)
      /// A later run of another copy of the store used it.
      case ofLaterRun
      /// It is another store's, or an earlier run's.
      case other
    }
  }

  /// Decides how the last run ended.
  init(_ facts: Facts) {
    guard facts.isSameFile else {
      self = .lossy("the database file was copied or restored")
      return
    }
    if facts.isSameBoot, case .ofLaterRun = facts.page {
      self = .lossy("the database file is older than the last run")
    } else if facts.isClean {
      self = .clean
    } else if !facts.isSameBoot {
      self = .lossy("the machine ended without a shutdown of reachd")
    } else {
      switch facts.page {
      case .ofLastRun(isLossy: false): self = .killed
      case .ofLastRun(isLossy: true): self = .lossy("reachd was killed while the disk was not available")
      case .ofLaterRun, .other, nil:
        self = .lossy("reachd was killed, and its page in the runtime directory is missing")
      }
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
