import Logging
import NetworkReachabilityTesting
import ReachabilityModel
import Testing

@testable import NetworkReachability

@Suite("The log")
struct LogTests {
  /// Stores lines with their metadata.
  private struct Handler: LogHandler {
    let lines: Shared<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      lines.withLock { $0.append("\(event.level) \(event.message)" + facts.joined()) }
    }
  }

  @Test("Every transition is one line with metadata")
  func lines() throws {
    let lines = Shared<[String]>([])
    let logger = Logger(label: "test") { _ in Handler(lines: lines) }
    let kernel = ScriptedKernel(.wired)
    let monitor = ReachabilityMonitor(configuration: .init(logger: logger), kernel: kernel)
    let subscription = monitor.listen(watching: [try ReachabilityTarget(host: "192.0.2.1")], on: .immediate) { _ in }
    try monitor.start()
    kernel.change([.routeReplaced]) { $0.addDefault(via: "10.0.0.2", on: 2, metric: 1) }
    kernel.change { $0.change("eth0") { $0.operationalState = .down } }
    kernel.advance(by: .milliseconds(10))
    let way = "interface=eth0 "
    #expect(
      lines.value.filter { !$0.contains(" host changed ") } == [
        "info first verdict from=unknown gateway=10.0.0.1 \(way)sequence=1 source=10.0.0.5 status=reachable",
        "info path changed cause=routeReplaced gateway=10.0.0.2 \(way)sequence=2 source=10.0.0.5 status=reachable",
        "info interface changed addresses=10.0.0.5/24 cause=carrierLost \(way)sequence=3 state=down up=true",
        "info status changed cause=carrierLost from=reachable gateway=10.0.0.2 \(way)reason=linkDown sequence=4 "
          + "status=notReachable",
      ])
    #expect(lines.value.count { $0.hasPrefix("debug host changed ") && $0.contains(" host=192.0.2.1 ") } == 3)
    withExtendedLifetime(subscription) {}
  }

  private func changes(_ ids: Range<Int>, _ state: CheckResult.State, _ cause: Cause) throws -> [Transition] {
    let time = Timestamp(microseconds: 0)
    return try ids.map { number in
      let definition = TargetDefinition(id: "t\(number)", target: try CheckTarget("tcp://10.0.0.9:1"))
      var status = TargetStatus(at: time)
      status.take(
        CheckResult(state, state == .up ? nil : .linkDown, startedAt: time, duration: .zero), definition, at: time)
      let report = TargetReport(definition: definition, origin: .runtime, revision: 1, status: status)
      return Transition(
        sequence: UInt64(number), time: time, causes: [cause],
        change: .target(from: .unknown, to: report, removed: false))
    }
  }

  @Test("Equal changes of one reading share a line")
  func storm() throws {
    let lines = Shared<[String]>([])
    let log = EngineTransitionLog(Logger(label: "test") { _ in Handler(lines: lines, logLevel: .info) })
    log.write(try changes(0..<3, .unreachable, .carrierLost))
    #expect(
      lines.value == [
        "info targets changed cause=carrierLost count=3 from=unknown reason=linkDown sequence=0 state=unreachable "
          + "targets=t0,t1,t2"
      ])
    for _ in 0..<165 {
      log.write(try changes(0..<200, .unreachable, .carrierLost))
      for number in 0..<200 { log.write(try changes(number..<number + 1, .up, .check)) }
    }
    #expect(lines.value.count < 1_000, "\(lines.value.count)")
    #expect(lines.value.contains { $0.hasPrefix("notice targets flapping ") && $0.contains(" count=197 ") })
  }
}

@Suite("Repeated changes have two lines in the log")
struct RepeatedChangesTests {
  private let start = ContinuousClock.now
  private let target = Transition.Subject.target("db")

  @Test("Five changes a minute begin a period that is counted")
  func period() throws {
    var repeated = RepeatedChanges()
    let decisions = (0..<1_000).map {
      repeated.record(target, "up", isFlapping: false, at: start + .milliseconds(100) * $0)
    }
    #expect(decisions.prefix(4).allSatisfy { $0 == .log } && decisions[4] == .begin)
    #expect(decisions.dropFirst(5).allSatisfy { $0 == .count })
    #expect(repeated.takeEnded(at: start + .seconds(159)).isEmpty && !repeated.isEmpty)
    let ended = repeated.takeEnded(at: start + .seconds(160))
    #expect(ended == [.init(subject: target, changes: 1_000, duration: .milliseconds(99_900), state: "up")])
    #expect(repeated.isEmpty && repeated.record(target, "up", isFlapping: false, at: start + .seconds(161)) == .log)
  }

  @Test("Rare changes have lines of their own")
  func rare() throws {
    var repeated = RepeatedChanges()
    #expect(
      (0..<50).allSatisfy { repeated.record(target, "up", isFlapping: false, at: start + .seconds(20) * $0) == .log })
    #expect(repeated.isEmpty)
  }

  @Test("Subjects without a recent change are not kept")
  func sweep() throws {
    var repeated = RepeatedChanges()
    for number in 0..<100_000 {
      _ = repeated.record(.interface("veth\(number)"), "up", isFlapping: false, at: start + .seconds(1) * number)
    }
    #expect(repeated.count <= RepeatedChanges.sweepThreshold + 1)
  }
}
