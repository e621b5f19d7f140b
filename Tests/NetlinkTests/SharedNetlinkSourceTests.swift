import Glibc
import Locks
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Several uses of one source, on a real kernel.
@Suite(.enabled(if: Namespace.isSupported)) struct SharedNetlinkSourceTests {
  /// The failures of several threads.
  private final class Failures: Sendable {
    private let texts = Locked<[String]>([])
    func append(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock(\.self) }
  }

  /// True once.
  private final class Once: Sendable {
    private let isUsed = Locked(false)
    func take() -> Bool {
      isUsed.withLock { isUsed in
        defer { isUsed = true }
        return !isUsed
      }
    }
  }

  private static let first: IPAddress = "192.0.2.1"
  private static let second: IPAddress = "2001:db8::1"

  private let pair: VethPair
  private let sources = (SharedNetlinkSource(), SharedNetlinkSource())
  private let observers = (RecordingObserver([RouteQuery(first)]), RecordingObserver([RouteQuery(second)]))

  init() throws {
    pair = try VethPair()
    try pair.addDefaultRoutes()
  }

  private func start() throws {
    try pair.client.run { () throws(KernelError) in
      try sources.0.start(observers.0)
      try sources.1.start(observers.1)
    }
  }

  @Test("Two uses have one thread and one set of sockets, and the last one closes them")
  func descriptors() throws {
    try pair.client.unshareDescriptors()
    let (sources, observers) = (sources, observers)
    let counts = try pair.client.run { () throws(KernelError) -> [Int] in
      var counts = [Namespace.openFileCount()]
      try sources.0.start(observers.0)
      counts.append(Namespace.openFileCount())
      try sources.1.start(observers.1)
      counts.append(Namespace.openFileCount())
      sources.0.stop()
      counts.append(Namespace.openFileCount())
      sources.1.stop()
      counts.append(Namespace.openFileCount())
      return counts
    }
    #expect(counts[1] > counts[0])
    #expect(counts == [counts[0], counts[1], counts[1], counts[1], counts[0]])
  }

  @Test("Each observer receives a first reading and the answers to its own lookups")
  func answers() throws {
    try start()
    #expect(observers.0.readings.first?.answers.keys.map(\.destination) == [Self.first])
    #expect(observers.1.readings.count == 1)
    #expect(observers.1.last?.answers.keys.map(\.destination) == [Self.second])
    #expect(observers.1.last?.tables == observers.0.last?.tables)
    try pair.client.ip(batch: ["route del default", "route del ::/0"])
    #expect(observers.0.waits(Self.first) { $0?.route == nil })
    #expect(observers.1.waits(Self.second) { $0?.route == nil })
    #expect(observers.0.last?.answers.count == 1 && observers.1.last?.answers.count == 1)
    stop()
  }

  @Test("The start of a use, and its requests, make no other use read again")
  func independentReadings() throws {
    let namespace = try Namespace()
    let observers = (0..<20).map { _ in RecordingObserver([RouteQuery(Self.first)]) }
    let sources = observers.map { _ in SharedNetlinkSource() }
    for (source, observer) in zip(sources, observers) {
      try namespace.run { () throws(KernelError) in try source.start(observer) }
    }
    #expect(observers.map(\.readings.count) == Array(repeating: 1, count: 20))
    sources[7].refresh()
    #expect(eventually { observers[7].readings.count == 2 })
    #expect(observers.map(\.readings.count).reduce(0, +) == 21)
    try namespace.ip("link set lo up")
    #expect(eventually { observers.allSatisfy { $0.last?.tables.interfaces.first?.flags.contains(.up) == true } })
    for source in sources { source.stop() }
  }

  @Test("A use that requests a reading during its first one receives another one")
  func requestDuringStart() throws {
    try pair.client.run { () throws(KernelError) in try sources.0.start(observers.0) }
    let source = sources.1
    let once = Once()
    let requesting = RecordingObserver { _ in
      if once.take() { source.refresh() }
      return nil
    }
    try pair.client.run { () throws(KernelError) in try source.start(requesting) }
    #expect(eventually { requesting.readings.count >= 2 })
    stop()
  }

  @Test("A deadline of one use is kept while others start, and makes only that one read")
  func deadlines() throws {
    let namespace = try Namespace()
    let delay = Duration.milliseconds(50)
    let once = Once()
    let waiting = RecordingObserver { reading in once.take() ? reading.uptime + delay : nil }
    let other = RecordingObserver()
    try namespace.run { () throws(KernelError) in
      try sources.0.start(waiting)
      try sources.1.start(other)
    }
    #expect(eventually { waiting.readings.count == 2 })
    let times = waiting.readings.map(\.uptime)
    #expect(times.count == 2 && times[1] - times[0] >= delay)
    #expect(other.readings.count == 1)
    stop()
  }

  @Test("The first reading of a later use includes every change before its start")
  func currentFirstReading() throws {
    try pair.client.run { () throws(KernelError) in try sources.0.start(observers.0) }
    for round in 0..<50 {
      try pair.client.ip("address add 10.50.\(round).1/24 dev c0")
      let (source, observer) = (SharedNetlinkSource(), RecordingObserver())
      try pair.client.run { () throws(KernelError) in try source.start(observer) }
      let added = IPAddress(ipv4: 0x0a32_0001 + UInt32(round) << 8)
      #expect(observer.readings.first?.tables.owners(of: added).count == 1)
      source.stop()
    }
    stop()
  }

  @Test("An observer that left receives nothing, and the other one everything")
  func leaving() throws {
    try start()
    sources.0.stop()
    let count = observers.0.readings.count
    try pair.client.ip(batch: ["route del default", "route del ::/0"])
    #expect(observers.1.waits(Self.second) { $0?.route == nil })
    #expect(observers.0.readings.count == count)
    #expect(throws: KernelError.self) { try sources.0.lookUp([RouteQuery(Self.first)]) }
    #expect(try sources.1.lookUp([RouteQuery(Self.first)])[RouteQuery(Self.first)]?.route == nil)
    stop()
  }

  @Test("A use may begin, and end, inside an observer's call on the source's thread")
  func insideACall() throws {
    let inner = RecordingObserver([RouteQuery(Self.second)])
    let source = sources.1
    let failures = Failures()
    let outer = RecordingObserver([RouteQuery(Self.first)]) { reading in
      guard reading.answers[RouteQuery(Self.first)]?.route == nil, inner.readings.isEmpty else { return nil }
      do throws(KernelError) { try source.start(inner) } catch { failures.append("\(error)") }
      return nil
    }
    try pair.client.run { () throws(KernelError) in try sources.0.start(outer) }
    try pair.client.ip("route del default")
    #expect(eventually { !inner.readings.isEmpty })
    #expect(failures.all.isEmpty)
    #expect(inner.readings.first?.answers[RouteQuery(Self.second)]?.route != nil)
    try pair.client.ip("route del ::/0")
    #expect(inner.waits(Self.second) { $0?.route == nil })
    stop()
  }

  @Test("Uses in other namespaces, or with other overrides, have sources of their own")
  func separate() throws {
    let other = try Namespace()
    let (observer, overridden) = (RecordingObserver(), RecordingObserver())
    let source = SharedNetlinkSource()
    let overriding = SharedNetlinkSource(overrides: [InterfaceOverride(match: "c0", type: .wwan)])
    try pair.client.run { () throws(KernelError) in
      try sources.0.start(observers.0)
      try overriding.start(overridden)
    }
    try other.run { () throws(KernelError) in try source.start(observer) }
    #expect(observer.last?.tables.interfaces.map(\.name) == ["lo"])
    #expect(overridden.last?.tables.interface(named: "c0")?.type == .wwan)
    #expect(observers.0.last?.tables.interface(named: "c0")?.type != .wwan)
    source.stop()
    overriding.stop()
    stop()
  }

  @Test("A failure is reported to every use, ends later starts with its error, and recovery to every use")
  func failure() throws {
    let multiplexer = NetlinkObserverMultiplexer()
    let error = KernelError(operation: "dump", errno: ENOBUFS, message: "")
    let time = KernelClock.time
    func read() {
      let survey = KernelSurvey(tables: KernelTables(), uptime: .zero)
      _ = multiplexer.needsRouteBlocks(for: survey)
      _ = multiplexer.routeQueries(for: survey)
      _ = multiplexer.ingest(KernelReading(tables: KernelTables(), answers: [:], uptime: .zero, time: time))
    }
    try multiplexer.add(.init(observers.0), isFirst: true)
    read()
    let waiting = NetlinkObserverMultiplexer.Member(observers.1)
    try multiplexer.add(waiting, isFirst: false)
    multiplexer.kernelFailed(error, at: time)
    #expect(observers.0.errors == [error] && observers.1.errors.isEmpty)
    #expect(throws: error) { try waiting.waitForFirstReading() }
    #expect(throws: error) { try multiplexer.add(.init(RecordingObserver()), isFirst: false) }
    read()
    try multiplexer.add(.init(RecordingObserver()), isFirst: false)
    #expect(observers.0.readings.count == 2)
  }

  @Test("Many threads may start and stop uses while the kernel changes")
  func stress() async throws {
    let client = pair.client
    let flood = try client.spawn(
      "/sbin/ip", ["-batch", "-"],
      input: (0..<2_000).map { "route \($0 % 2 == 0 ? "add" : "del") 10.1.\($0 / 2 % 250).0/24 dev lo\n" }.joined())
    let failures = Failures()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<40 {
            let (source, observer) = (SharedNetlinkSource(), RecordingObserver([RouteQuery(Self.first)]))
            do throws(KernelError) {
              try client.run { () throws(KernelError) in try source.start(observer) }
            } catch {
              failures.append("\(error)")
            }
            if observer.readings.first?.answers.count != 1 || observer.overlaps > 0 {
              failures.append("\(observer.readings.count) readings, \(observer.overlaps) overlaps")
            }
            source.stop()
          }
        }
      }
    }
    #expect(failures.all.isEmpty)
    #expect(try flood.wait() == .exited(0))
  }

  @Test("A use is started once, and not after its stop")
  func once() throws {
    sources.0.stop()
    #expect(throws: KernelError.self) { try sources.0.start(observers.0) }
    try pair.client.run { () throws(KernelError) in try sources.1.start(observers.1) }
    #expect(throws: KernelError.self) { try sources.1.start(observers.1) }
    stop()
  }

  private func stop() {
    sources.0.stop()
    sources.1.stop()
  }
}
