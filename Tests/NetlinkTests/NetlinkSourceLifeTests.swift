import Glibc
import Locks
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Start and stop, from every side and at every moment.
@Suite(.enabled(if: Namespace.isSupported)) struct NetlinkSourceLifeTests {
  /// Stops a source from inside a reading.
  final class Stopper: KernelObserver {
    private let state: Locked<(source: NetlinkSource?, atReading: Int, readings: Int)>

    init(atReading: Int) { state = Locked((nil, atReading, 0)) }

    var readings: Int { state.withLock { $0.readings } }
    func set(_ source: NetlinkSource) { state.withLock { $0.source = source } }
    func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { [] }
    func kernelFailed(_ error: KernelError, at time: Timestamp) {}

    func ingest(_ reading: KernelReading) -> Duration? {
      let source = state.withLock { state in
        state.readings += 1
        return state.readings == state.atReading ? state.source : nil
      }
      source?.stop()
      // The moment has passed: were the source still running, it would read again at once.
      return .zero
    }
  }

  @Test(arguments: [1, 2]) func stopDuringAReading(_ number: Int) throws {
    let namespace = try Namespace()
    let observer = Stopper(atReading: number)
    let source = NetlinkSource(logger: .init(label: "test"))
    observer.set(source)
    try namespace.run { () throws(KernelError) in try source.start(observer) }
    #expect(eventually { observer.readings == number })
    // Waits for the thread, which was told to end by itself.
    source.stop()
    #expect(observer.readings == number)
    #expect(throws: KernelError.self) { try source.lookUp([RouteQuery("192.0.2.1")]) }
  }

  /// Stops another's source from inside its second reading, once that other is inside of one, too.
  final class Opponent: KernelObserver {
    /// How many are inside of a reading.
    final class Meeting: Sendable {
      let count = Locked(0)
    }

    private let meeting: Meeting
    private let other = Locked<NetlinkSource?>(nil)
    private let readings = Locked(0)
    private let isDone = Locked(false)

    init(_ meeting: Meeting) { self.meeting = meeting }

    var hasStopped: Bool { isDone.withLock(\.self) }
    func set(_ source: NetlinkSource?) { other.withLock { $0 = source } }
    func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { [] }
    func kernelFailed(_ error: KernelError, at time: Timestamp) {}

    func ingest(_ reading: KernelReading) -> Duration? {
      let number = readings.withLock { readings in
        readings += 1
        return readings
      }
      guard number == 2 else { return nil }
      meeting.count.withLock { $0 += 1 }
      guard eventually({ meeting.count.withLock(\.self) == 2 }) else { return nil }
      other.withLock(\.self)?.stop()
      isDone.withLock { $0 = true }
      return nil
    }
  }

  @Test func mutualStopFromCallbacksDoesNotDeadlock() throws {
    let namespace = try Namespace()
    let meeting = Opponent.Meeting()
    let observers = [Opponent(meeting), Opponent(meeting)]
    let sources = observers.map { _ in NetlinkSource(logger: .init(label: "test")) }
    for (observer, source) in zip(observers, sources.reversed()) { observer.set(source) }
    for (observer, source) in zip(observers, sources) {
      try namespace.run { () throws(KernelError) in try source.start(observer) }
    }
    try namespace.ip("route add 10.1.0.0/24 dev lo")
    #expect(eventually { observers.allSatisfy(\.hasStopped) })
    for source in sources { source.stop() }
    for observer in observers { observer.set(nil) }
  }

  @Test func noReadingFollowsStop() throws {
    let namespace = try Namespace()
    for _ in 0..<20 {
      let observer = RecordingObserver([RouteQuery("192.0.2.1")])
      let source = NetlinkSource(logger: .init(label: "test"))
      try namespace.run { () throws(KernelError) in try source.start(observer) }
      let flood = try namespace.spawn(
        "/sbin/ip", ["-batch", "-"],
        input: (0..<400).map { "route add 10.\($0 / 256).\($0 % 256).0/24 dev lo\n" }.joined()
          + (0..<400).map { "route del 10.\($0 / 256).\($0 % 256).0/24 dev lo\n" }.joined())
      let before = observer.readings.count
      #expect(eventually { observer.readings.count > before || flood.poll() != nil })
      source.stop()
      let count = observer.readings.count
      #expect(try flood.wait() == .exited(0))
      #expect(observer.readings.count == count && observer.overlaps == 0)
      source.stop()
      source.refresh()
    }
  }

  @Test func concurrentStopsAreSafe() async throws {
    let running = try RunningSource()
    let source = running.source
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { source.stop() } }
    }
    #expect(throws: KernelError.self) { try source.lookUp([]) }
  }

  @Test func stopBeforeStart() throws {
    let source = NetlinkSource(logger: .init(label: "test"))
    source.stop()
    source.stop()
    #expect(throws: KernelError.self) { try source.start(RecordingObserver()) }
  }

  @Test func stopClosesAllDescriptors() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let counts = namespace.run { () -> [Int] in
      var counts = [Namespace.openFileCount()]
      for _ in 0..<20 {
        let source = NetlinkSource(logger: .init(label: "test"))
        do throws(KernelError) { try source.start(RecordingObserver()) } catch { counts.append(-1) }
        _ = try? source.lookUp([RouteQuery("192.0.2.1")])
        source.stop()
        counts.append(Namespace.openFileCount())
      }
      return counts
    }
    #expect(Set(counts).count == 1, "\(counts)")
  }

  @Test func releasedSourceStops() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let counts = namespace.run { () -> [Int] in
      let before = Namespace.openFileCount()
      try? NetlinkSource(logger: .init(label: "test")).start(RecordingObserver())
      return [before, Namespace.openFileCount()]
    }
    #expect(Set(counts).count == 1, "\(counts)")
  }

  @Test func failedReadingIsReportedOnceAndRetried() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let observer = RecordingObserver([RouteQuery("127.0.0.1")])
    let source = NetlinkSource(logger: .init(label: "test"))
    try namespace.run { () throws(KernelError) in
      let before = Self.openFiles()
      try source.start(observer)
      // In the order of opening: timerfd, epoll, eventfd, then the sockets for events, queries (and their sources),
      // lookups (and theirs), barriers.
      let opened = Self.openFiles().subtracting(before).sorted()
      #expect(opened.count == 9)
      // The socket for queries becomes a file that answers nothing.
      let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
      dup2(null, opened[4])
      close(null)
    }
    namespace.run { source.refresh() }
    #expect(eventually { observer.errors.count == 1 })
    for _ in 0..<10 { namespace.run { source.refresh() } }
    #expect(eventually { observer.readings.count >= 2 })
    #expect(observer.errors.map(\.errno) == [ENOTSOCK])
    #expect(observer.last?.answers[RouteQuery("127.0.0.1")]?.route?.type == .local)
    #expect(source.counters.failures == 1)
    // Where its descriptors are.
    namespace.run { source.stop() }
  }

  @Test func failedStartClosesAllDescriptors() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let outcomes = namespace.run { () -> [Outcome] in
      var filler = Self.takeAllDescriptors()
      return (0..<10).map { free in
        if free > 0, let file = filler.popLast() { close(file) }
        let source = NetlinkSource(logger: .init(label: "test"))
        var code: Int32 = 0
        do throws(KernelError) { try source.start(RecordingObserver()) } catch { code = error.errno }
        source.stop()
        let left = Self.takeAllDescriptors()
        for file in left { close(file) }
        return Outcome(free: free, left: left.count, errno: code)
      }
    }
    #expect(outcomes.allSatisfy { $0.left == $0.free }, "\(outcomes)")
    // timerfd, epoll, eventfd and six sockets.
    #expect(outcomes.map(\.errno) == Array(repeating: EMFILE, count: 9) + [0])
  }

  /// The lowest of the calling thread's descriptors, far more than a test has.
  private static func openFiles() -> Set<Int32> {
    Set((0..<1024).filter { fcntl($0, F_GETFD) >= 0 })
  }

  private struct Outcome {
    var free: Int
    var left: Int
    var errno: Int32
  }

  /// Opens files until no more may be opened.
  private static func takeAllDescriptors() -> [Int32] {
    var taken: [Int32] = []
    while case let file = dup(0), file >= 0 { taken.append(file) }
    return taken
  }
}
