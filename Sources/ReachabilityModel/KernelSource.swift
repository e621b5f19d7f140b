/// Where the kernel's state comes from: rtnetlink in production, a script in tests.
public protocol KernelSource: AnyObject, Sendable {
  /// Opens the source and delivers the first reading before it returns.
  ///
  /// Sockets are opened on the calling thread, so the source watches that thread's network namespace. May be called once.
  ///
  /// - Parameter observer: receives every reading, on one thread at a time, never two at once.
  /// - Throws: a ``KernelError`` when the kernel refuses; nothing is left open then.
  func start(_ observer: any KernelObserver) throws(KernelError)

  /// Asks for a new reading soon, because the observer's questions changed; from any thread, never blocks.
  func refresh()

  /// Answers questions now, on the calling thread, from the same namespace; only after a successful `start`.
  ///
  /// What the kernel has announced before is done in the answers; it may have to be waited for.
  ///
  /// - Throws: a ``KernelError`` when the kernel cannot be asked.
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]

  /// Answers questions as a packet of this instant would be sent, and waits for no change that is under way.
  ///
  /// - Throws: a ``KernelError`` when the kernel cannot be asked.
  func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]

  /// Whether ``lookUp(_:)`` never waits, so that also callers that may not wait ask it themselves.
  var answersImmediately: Bool { get }

  /// How long ago the source last showed that it lives: that it reads, or that it is ready to.
  var timeSinceProgress: Duration { get }

  /// What the source has done so far; zeros where nobody counts.
  var counters: KernelCounters { get }

  /// Ends the source; no call to the observer begins after it returns, except when called by the observer itself.
  func stop()

  /// Ends the source for the observer that it was started with, and goes on for others if it has several at once.
  ///
  /// Only a source that can be started more than once need tell them apart; others stop.
  func stop(for observer: any KernelObserver)
}

extension KernelSource {
  /// It may wait.
  public var answersImmediately: Bool { false }

  /// Nothing is counted.
  public var counters: KernelCounters { KernelCounters() }

  /// A source without changes that are under way answers as ever.
  public func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    try lookUp(queries)
  }

  /// Stops.
  public func stop(for observer: any KernelObserver) { stop() }
}

/// Who asks the questions and receives the readings of a ``KernelSource``.
public protocol KernelObserver: AnyObject, Sendable {
  /// The lookups to make for the next reading, given what is known before it.
  ///
  /// The changes of a survey whose reading then fails count as heard: the next survey need not repeat them.
  func routeQueries(for survey: KernelSurvey) -> [RouteQuery]

  /// Whether the coming survey should list the blocks of all routes and rules (``RouteChanges/allBlocks``).
  ///
  /// - Parameter isAfterLoss: what was listed before may be out of date.
  /// - Returns: true when they are wanted.
  func needsRouteBlocks(isAfterLoss: Bool) -> Bool

  /// Counts what differs between the observer's state and a reading without an event to explain it; 0 is as it should be.
  ///
  /// Called before ``ingest(_:)`` for the reading of a survey with ``KernelSurvey/isAudit``.
  func differences(in audit: KernelReading) -> Int

  /// Takes in a reading.
  ///
  /// - Returns: when the source should read again even if no event comes: at the end of a settle time or of a route's
  ///   life; on the reading's ``KernelReading/uptime`` scale; nil for never.
  func ingest(_ reading: KernelReading) -> Duration?

  /// The source can no longer read, at this time; called at most once between two readings.
  func kernelFailed(_ error: KernelError, at time: Timestamp)
}

extension KernelObserver {
  /// No list is needed.
  public func needsRouteBlocks(isAfterLoss: Bool) -> Bool { false }

  /// Nothing is compared.
  public func differences(in audit: KernelReading) -> Int { 0 }
}

/// The kernel's state at one instant, with the answers to the observer's questions.
public struct KernelReading: Sendable {
  /// Interfaces and addresses.
  public var tables: KernelTables
  /// The answer to each question that was asked.
  public var answers: [RouteQuery: RouteAnswer]
  /// What the kernel's events said that the tables do not show: routes, rules, nexthops, lost events.
  public var causes: Set<Cause>
  /// When it was read: CLOCK_MONOTONIC since its own zero.
  public var uptime: Duration
  /// When it was read: CLOCK_REALTIME.
  public var time: Timestamp
  /// When the first of the events behind it was received, on the scale of ``uptime``; nil when none was.
  public var receivedAt: Duration?

  /// A reading.
  public init(
    tables: KernelTables, answers: [RouteQuery: RouteAnswer], causes: Set<Cause> = [], uptime: Duration,
    time: Timestamp, receivedAt: Duration? = nil
  ) {
    self.tables = tables
    self.answers = answers
    self.causes = causes
    self.uptime = uptime
    self.time = time
    self.receivedAt = receivedAt
  }
}

/// The kernel refused an operation.
public struct KernelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried, such as `socket` or `dump RTM_GETLINK`.
  public let operation: String
  /// The errno, 0 when the answer itself was wrong.
  public let errno: Int32
  /// The kernel's own words (extended ack) or strerror's.
  public let message: String

  /// An error.
  public init(operation: String, errno: Int32, message: String) {
    self.operation = operation
    self.errno = errno
    self.message = message
  }

  /// The operation and the message.
  public var description: String { "\(operation): \(message)" }
}
