internal import ReachabilityModel

/// The script of a ``ScriptedKernel``, its clock, and its observers.
struct ScriptedKernelState {
  /// The state of one observer, from its start to the stop.
  struct Session {
    let number: Int
    let observer: any KernelObserver
    var deadline: Duration?
    var isDelivering = false
    /// The causes of a reading that was requested during a delivery.
    var next: Set<Cause>?
    /// The next reading is an audit.
    var isAudit = false
    var differences = 0
    /// The announced changes that were not read yet.
    var changes = RouteChanges(isAny: true)
  }

  /// 2026-01-01T00:00:00Z less the uptime at the start, so that tests see round times.
  private static let bootTime: Int64 = 1_767_225_600_000_000 - 1_000_000_000

  var script: KernelScript
  /// The observers, in the order of their starts.
  private(set) var sessions: [Session] = []
  private var sessionCount = 0
  var uptime = Duration.seconds(1000)
  var startError: KernelError?
  var lookUpCount = 0

  init(script: KernelScript) { self.script = script }

  var now: Timestamp {
    let (seconds, attoseconds) = uptime.components
    return Timestamp(microseconds: Self.bootTime + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }

  /// Changes one session; nil when it has ended.
  mutating func withSession<Result>(_ number: Int, _ body: (inout Session) -> Result) -> Result? {
    sessions.firstIndex { $0.number == number }.map { body(&sessions[$0]) }
  }

  mutating func withSessions(_ body: (inout Session) -> Void) {
    for index in sessions.indices { body(&sessions[index]) }
  }

  /// The session with the first deadline.
  var nextDeadline: (number: Int, deadline: Duration)? {
    sessions.compactMap { session in session.deadline.map { (session.number, $0) } }.min { $0.1 < $1.1 }
  }

  /// Adds an observer; returns the number of its session.
  mutating func add(_ observer: any KernelObserver) -> Int {
    sessionCount += 1
    sessions.append(Session(number: sessionCount, observer: observer))
    return sessionCount
  }

  /// Removes sessions, and returns them: their observers must be released outside of the lock.
  mutating func remove(where matches: (Session) -> Bool) -> [Session] {
    defer { sessions.removeAll(where: matches) }
    return sessions.filter(matches)
  }

  /// The observer that a reading is delivered to; nil if it has ended, or if the reading follows one that is being delivered.
  mutating func beginDelivery(_ number: Int, _ causes: Set<Cause>) -> (any KernelObserver)? {
    let observer = withSession(number) { session -> (any KernelObserver)? in
      guard !session.isDelivering else {
        session.next = (session.next ?? []).union(causes)
        return nil
      }
      session.isDelivering = true
      return session.observer
    }
    return observer ?? nil
  }

  /// Ends a delivery; returns the causes of the reading that was requested meanwhile, if the observer has not ended.
  mutating func endDelivery(_ number: Int, deadline: Duration?) -> Set<Cause>? {
    let next = withSession(number) { session -> Set<Cause>? in
      defer { session.next = nil }
      session.deadline = deadline
      session.isDelivering = session.next != nil
      return session.next
    }
    return next ?? nil
  }

  /// What a reading for an observer contains.
  mutating func survey(for number: Int) -> KernelSurvey {
    let (announced, isAudit) =
      withSession(number) { session in
        defer {
          session.changes = RouteChanges()
          session.isAudit = false
        }
        return (session.changes, session.isAudit)
      } ?? (RouteChanges(isAny: true), false)
    var changes = announced
    if isAudit { changes.isAny = true }
    return KernelSurvey(
      tables: script.tables, changes: changes, uptime: uptime, isAudit: isAudit, isAfterLoss: changes.isAny)
  }
}
