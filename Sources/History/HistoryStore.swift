public import Database
internal import EventLoop
internal import Locks
internal import Logging

/// The events, states and history of one service in one directory; one process uses it at a time.
///
/// An event is committed by the thread `store` before it is visible. No other thread waits for the disk: when the disk
/// delays an event by 50 ms, events become visible without their commit, and a kill in that state begins a new epoch.
public final class HistoryStore: Sendable {
  let queue: WriteQueue
  let readers: HistoryReaderPool
  let files: StoreFiles
  private let sync: SyncThread
  private let stall: StallThread
  let thread: WriterThread
  let waker: Waker
  private let tasks: WriterMaintenanceTasks
  private let verifier = StoreVerifier()
  let observers: Observers
  private let threads = Locked<[LoopThread]>([])
  private let hasEnded = Latch()

  private let clock: EventClock
  private let opened: Locked<RecoveredStoreState>
  /// Counters for metrics.
  public let statistics: StoreStatistics
  /// The settings.
  public let configuration: StoreConfiguration

  /// Opens a store; it blocks, and starts no thread.
  ///
  /// A disk that fails or is full is not an error: the store is detached then, and opened later.
  ///
  /// - Throws: a ``StoreError`` when the directory cannot be used by this process.
  public static func open(_ configuration: StoreConfiguration) throws(StoreError) -> HistoryStore {
    let opened = try OpenedStoreFiles(configuration)
    do throws(EventLoopError) {
      return try HistoryStore(configuration, opened)
    } catch {
      configuration.start?.end(configuration.logger)
      throw .directory(path: configuration.directory, reason: "\(error)")
    }
  }

  private init(_ configuration: StoreConfiguration, _ opened: OpenedStoreFiles) throws(EventLoopError) {
    self.configuration = configuration
    files = opened.files
    clock = opened.clock
    self.opened = Locked(opened.state)
    let statistics = StoreStatistics()
    let observers = Observers()
    let waker = try Waker()
    let stallTimer = try OneShotTimer()
    let isStallTimerSet = WriterFlag()
    let queue = WriteQueue(
      last: opened.state.lastSequence, page: opened.page, waker: waker, stallTimer: stallTimer)
    let readers = HistoryReaderPool(opened.files.databasePath, isBlocked: !opened.reopening.isPermitted)
    let tasks = WriterMaintenanceTasks()
    let hasSyncFailed = WriterFlag()
    let logger = configuration.logger
    let onVisible: @Sendable () -> Void = { observers.notify(queue.lastVisible) }
    sync = try SyncThread(statistics) { error in
      if let error {
        logger.error("the log was not synchronized with the disk", metadata: ["error": "\(error)"])
        hasSyncFailed.set()
      }
      waker.wake()
    }
    stall = try StallThread(queue, timer: stallTimer, isArmed: isStallTimerSet) {
      statistics.recordDetachment()
      logger.warning(
        "events are published without being committed", metadata: ["reason": "the disk does not respond in time"])
      onVisible()
    }
    thread = try WriterThread(
      opened, queue: queue, statistics: statistics, sync: sync, readers: readers, stallTimer: stallTimer,
      isStallTimerSet: isStallTimerSet, waker: waker, hasSyncFailed: hasSyncFailed, verifier: verifier, tasks: tasks,
      onVisible: onVisible)
    self.statistics = statistics
    self.observers = observers
    self.waker = waker
    self.queue = queue
    self.readers = readers
    self.tasks = tasks
    if opened.commits == nil {
      _ = queue.detach("\(opened.state.lastEnd)", time: StoreTime.now.wall)
    }
  }

  /// What the store had when it was opened.
  public var recovered: RecoveredStoreState { opened.withLock(\.self) }

  /// Frees the memory of the recovered events, states and targets, which are in use elsewhere now.
  public func releaseRecovered() {
    opened.withLock { state in
      state.events = []
      state.subjects = [:]
      state.targets = []
    }
  }

  /// Starts the threads.
  ///
  /// - Throws: the failed system call, when the process can start no thread.
  public func start() throws(StoreError) {
    do throws(EventLoopError) {
      let started = [
        try LoopThread("stall") { [stall] in stall.run() },
        try LoopThread("sync", isWatched: false) { [sync] in sync.run() },
        try LoopThread("store", isWatched: false) { [thread] in
          thread.run()
        } completion: { [hasEnded] in
          hasEnded.open()
        },
      ]
      threads.withLock { $0 = started }
      guard case .lossy = recovered.lastEnd else { return }
      verifier.start(files.databasePath, configuration.logger) { [waker] in waker.wake() }
    } catch {
      throw .directory(path: configuration.directory, reason: "\(error)")
    }
  }

  /// Returns how long ago an event was published.
  ///
  /// - Parameters:
  ///   - sequence: its number.
  ///   - time: its time by the wall clock, in microseconds since 1970.
  /// - Returns: the time that the service has run since then.
  public func age(of sequence: UInt64, at time: Int64) -> Duration { clock.age(of: sequence, at: time, now: .now) }

  // MARK: - Writing

  /// Hands events over to the thread `store`, in the order of their numbers, which are consecutive.
  ///
  /// It never waits for the disk. The caller holds the lock that orders the events.
  ///
  /// - Returns: whether the events are visible already; otherwise ``observe(_:)`` reports it.
  public func append(_ records: [EventRecord]) -> Bool {
    let now = StoreTime.now
    if let first = records.first { clock.note(first.sequence, at: now) }
    return queue.append(records, at: now)
  }

  /// Has a statement executed in the next transaction, on the thread `store`.
  ///
  /// - Parameters:
  ///   - statement: what to write; it must not begin or end a transaction. Its own errors concern no other statement.
  ///   - completion: called after the commit, on the thread `store`; it must not block. While the disk is not available
  ///     it is not called: callers that wait need a timeout.
  public func write(
    _ statement: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Void,
    completion: @escaping @Sendable (Result<Void, StoreError>) -> Void = { _ in }
  ) {
    guard !queue.append(PendingWrite(body: statement, completion: completion)) else { return }
    completion(.failure(queue.isClosed ? .closed : .busy))
  }

  /// Repeats a transaction on the thread `store`, while no event waits.
  ///
  /// - Parameters:
  ///   - interval: the time between two executions.
  ///   - bytes: the bytes of events after which it is executed earlier, also while events wait; nil for never.
  ///   - runsAtEnd: whether it also runs when the store is closed.
  ///   - statement: what to write, in a transaction of its own; at most some milliseconds of work, because events wait.
  public func maintain(
    every interval: Duration, orAfter bytes: Int64? = nil, runsAtEnd: Bool = false,
    _ statement: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Void
  ) {
    tasks.add(
      WriterMaintenanceTasks.Entry(interval: interval, bytes: bytes, runsAtEnd: runsAtEnd, body: statement))
    waker.wake()
  }

  /// Commits what waits, marks the run as ended, and closes the store; events that are appended later are not kept.
  ///
  /// - Parameter timeLimit: how long to wait for the disk. When it expires, the run does not count as ended.
  /// - Returns: whether everything was committed in time.
  @discardableResult
  public func close(within timeLimit: Duration) -> Bool {
    let started = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    readers.close()
    guard !started.isEmpty else { return endWithoutThreads() }
    thread.isClosing.set()
    waker.wake()
    let hasEnded = hasEnded.wait(atMost: timeLimit)
    if !hasEnded { thread.logUnkept("the disk did not respond until the end of the process") }
    stall.stop()
    sync.stop()
    // A thread that the disk blocks ends with the process.
    for thread in started { thread.detach() }
    return hasEnded
  }
}
