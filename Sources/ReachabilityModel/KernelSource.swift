/// A source of the kernel's state: rtnetlink in production, a script in tests.
package protocol KernelSource: AnyObject, Sendable {
  /// Opens the source and delivers the first reading before it returns.
  ///
  /// Sockets are opened on the calling thread, so the source observes that thread's network namespace. May be called
  /// once.
  ///
  /// - Parameter observer: receives every reading; its calls do not overlap.
  /// - Throws: a ``KernelError`` when the kernel refuses; everything is closed then.
  func start(_ observer: any KernelObserver) throws(KernelError)

  /// Requests a new reading soon, because the observer's lookups changed; from any thread, never blocks.
  func refresh()

  /// Performs lookups on the calling thread, in the same namespace; only after a successful `start`.
  ///
  /// The answers include every change that the kernel has announced; the call may wait for one to complete.
  ///
  /// - Throws: a ``KernelError`` when the lookup fails.
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]

  /// Performs lookups without waiting for changes that are in progress, as if a packet were sent now.
  ///
  /// - Throws: a ``KernelError`` when the lookup fails.
  func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]

  /// Whether ``lookUp(_:)`` never waits, so that callers that must not block may call it directly.
  var answersImmediately: Bool { get }

  /// The time since the source last made progress: it read, or it was ready to.
  var timeSinceProgress: Duration { get }

  /// The source's counters; zeros if it does not count.
  var counters: KernelCounters { get }

  /// Stops the source; after it returns, no call to the observer begins unless the observer itself made this call.
  func stop()

  /// Stops the source for one observer, and continues for the others if it has several.
  ///
  /// Only a source that supports several observers needs to distinguish them; others stop.
  func stop(for observer: any KernelObserver)
}

extension KernelSource {
  /// By default lookups may wait.
  package var answersImmediately: Bool { false }

  /// By default nothing is counted.
  package var counters: KernelCounters { KernelCounters() }

  /// By default the same as ``lookUp(_:)``, for sources without changes in progress.
  package func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    try lookUp(queries)
  }

  /// By default the same as ``stop()``.
  package func stop(for observer: any KernelObserver) { stop() }
}

/// The observer of a ``KernelSource``: it requests lookups and receives readings.
package protocol KernelObserver: AnyObject, Sendable {
  /// The lookups for the next reading, given what is known before it.
  ///
  /// The changes of a survey count as received even if its reading then fails: the next survey does not repeat them.
  func routeQueries(for survey: KernelSurvey) -> [RouteQuery]

  /// Whether a survey should list the blocks of all routes and rules (``RouteChanges/allBlocks``); begins each reading.
  ///
  /// - Parameter survey: the survey without the list.
  /// - Returns: true to list them.
  func needsRouteBlocks(for survey: KernelSurvey) -> Bool

  /// Counts the differences between the observer's state and an audit's reading; 0 is expected.
  ///
  /// It is called before ``ingest(_:)`` for the reading of a survey with ``KernelSurvey/isAudit``.
  func differences(in audit: KernelReading) -> Int

  /// Processes a reading.
  ///
  /// - Returns: when the source should read again even without an event, on the scale of ``KernelReading/uptime``: at
  ///   the end of a settle time or of a route's lifetime; nil for never.
  func ingest(_ reading: KernelReading) -> Duration?

  /// Reports that the source can no longer read; called at most once between two readings.
  func kernelFailed(_ error: KernelError, at time: Timestamp)
}

extension KernelObserver {
  /// By default no list is needed.
  package func needsRouteBlocks(for survey: KernelSurvey) -> Bool { false }

  /// By default nothing is compared.
  package func differences(in audit: KernelReading) -> Int { 0 }
}

/// The kernel's state at one instant, with the answers to the observer's lookups.
package struct KernelReading: Sendable {
  /// Interfaces and addresses.
  package var tables: KernelTables
  package var answers: [RouteQuery: RouteAnswer]
  /// Causes from the kernel's events that the tables do not show: routes, rules, nexthops, lost events.
  package var causes: Set<Cause>
  /// Causes that are named only when there is no other: routes that come and go with links and addresses, sysctls.
  package var minorCauses: Set<Cause>
  /// When it was read, on CLOCK_MONOTONIC.
  package var uptime: Duration
  /// When it was read, on CLOCK_REALTIME.
  package var time: Timestamp
  /// When the first event behind it was received, on the scale of ``uptime``; nil without events.
  package var receivedAt: Duration?

  package init(
    tables: KernelTables, answers: [RouteQuery: RouteAnswer], causes: Set<Cause> = [],
    minorCauses: Set<Cause> = [], uptime: Duration, time: Timestamp, receivedAt: Duration? = nil
  ) {
    self.tables = tables
    self.answers = answers
    self.causes = causes
    self.minorCauses = minorCauses
    self.uptime = uptime
    self.time = time
    self.receivedAt = receivedAt
  }
}

/// The kernel refused an operation.
public struct KernelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation that failed, such as `socket` or `dump RTM_GETLINK`.
  public let operation: String
  /// The errno; 0 when the answer itself was invalid.
  public let errno: Int32
  /// The kernel's message (extended ack), or strerror's.
  public let message: String

  /// Creates an error.
  public init(operation: String, errno: Int32, message: String) {
    self.operation = operation
    self.errno = errno
    self.message = message
  }

  /// The operation and the message.
  public var description: String { "\(operation): \(message)" }
}

/// Counters of a source of kernel state since its start; all are monotonic.
public struct KernelCounters: Sendable, Hashable {
  /// Event messages of the subscribed groups.
  public var events: UInt64 = 0
  /// Datagrams with event messages.
  public var datagrams: UInt64 = 0
  /// Readings that were delivered to the observer.
  public var readings: UInt64 = 0
  /// Readings that failed.
  public var failures: UInt64 = 0
  /// Receive buffer overruns that the kernel reported (ENOBUFS); each one loses events.
  public var overruns: UInt64 = 0
  /// Complete readings after lost events.
  public var resyncs: UInt64 = 0
  /// Complete readings after the machine or this process was suspended.
  public var resumes: UInt64 = 0
  /// Waits for the kernel's RTNL lock before a reading.
  public var barriers: UInt64 = 0
  /// Audits: comparisons of the state with the kernel's, made without an event.
  public var audits: UInt64 = 0
  /// Differences that audits found, for which no event was received.
  public var auditDifferences: UInt64 = 0
  /// Readings that events caused.
  public var reactions: UInt64 = 0
  /// The time from the first event to the end of the observer's processing, summed over those readings.
  public var reactionTime: Duration = .zero
  /// When the source last made progress, on CLOCK_MONOTONIC; an idle source reports progress every 10 seconds.
  public var lastProgress: Duration = .zero

  /// Creates counters that are all zero.
  public init() {}
}

/// A source of name resolutions: the hosts file and name servers in production, a script in tests.
public protocol NameSource: AnyObject, Sendable {
  /// The current resolution of a name; `pending` until there is an answer.
  ///
  /// It must return immediately, must not block and must not call back into the monitor.
  func resolution(of name: String) -> NameResolution

  /// Adds a handler for changed answers; it stays for the lifetime of the source, in addition to earlier ones.
  func onChange(_ body: @escaping @Sendable () -> Void)
}
