import NetworkReachability
import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// A schedule with a clock of its own, in which the hosts that answer are given.
///
/// A check of a host that answers takes a millisecond, another one its timeout.
struct DependencyBench {
  var state = ScheduleState(seed: 7, concurrency: 1_024, perHost: 8)
  var uptime = Duration.zero
  /// The targets that do not answer.
  var silent: Set<String> = []
  /// The targets whose name servers fail.
  var inconclusive: Set<String> = []
  /// The published changes, in order: `shop down refused`.
  var log: [String] = []
  /// When each change was published.
  var times: [String: Duration] = [:]
  /// When the first good result after a bad one came, by target.
  var firstGood: [String: Duration] = [:]
  private var failing: Set<String> = []
  /// The number of checks by target.
  var checks: [String: Int] = [:]
  private var running: [(due: Duration, start: CheckStart, isUp: Bool)] = []

  var now: ScheduleMoment {
    ScheduleMoment(
      uptime: uptime, time: Timestamp(microseconds: 1_767_225_601_234_567 + uptime.nanoseconds / 1000))
  }

  /// Registers a target whose checks take at most two seconds.
  mutating func add(
    _ id: String, _ parents: [TargetDependency] = [], interval: Duration = .seconds(5), timeout: Duration = .seconds(2),
    _ change: (inout TargetDefinition) -> Void = { _ in }
  ) throws {
    var definition = TargetDefinition(
      id: id, target: try CheckTarget("tcp://10.0.\(state.entries.count / 200).\(state.entries.count % 200 + 1):1"),
      interval: interval, timeout: timeout, dependsOn: parents)
    change(&definition)
    record(state.put(definition, .configuration, at: now).change)
  }

  mutating func record(_ change: EngineTargetChange?) {
    guard let change else { return }
    let status = change.report.status
    let words = [change.report.definition.id, status.state.rawValue, status.reason?.rawValue, status.dependency]
    log.append(words.compactMap(\.self).joined(separator: " "))
    times[log.last ?? ""] = uptime
  }

  /// Lets time pass.
  mutating func run(for time: Duration) {
    let end = uptime + time
    while true {
      decide()
      for start in state.takeStarts(at: now, limit: .max) {
        checks[start.id, default: 0] += 1
        let isUp = !silent.contains(start.id)
        running.append((uptime + (isUp ? .milliseconds(1) : start.definition.timeout), start, isUp))
      }
      let ends = running.map(\.due).min()
      let next = [state.nextDeadline(after: uptime), ends].compactMap(\.self).min() ?? end
      guard next <= end else { break }
      uptime = max(uptime + .microseconds(1), next)
      let finished = running.filter { $0.due <= uptime }
      running.removeAll { $0.due <= uptime }
      for check in finished { finish(check.start, isUp: check.isUp) }
    }
    uptime = end
  }

  private mutating func finish(_ start: CheckStart, isUp: Bool) {
    if !isUp { failing.insert(start.id) } else if failing.remove(start.id) != nil { firstGood[start.id] = uptime }
    let isKnown = !inconclusive.contains(start.id)
    let result = CheckResult(
      isKnown ? isUp ? .up : .down : .unknown, isKnown ? isUp ? nil : .connectTimeout : .dnsTimeout,
      startedAt: now.time, duration: .milliseconds(1))
    if case .accepted(let change) = state.finish(start.run, result, at: now) { record(change) }
    decide()
  }

  mutating func decide() {
    while state.dependencies.hasTouched {
      for change in state.takeDecisions(at: now).changes { record(change) }
    }
  }

  /// Removes and returns the log.
  mutating func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  func status(_ id: String) -> TargetStatus? { state.entries[id]?.report.status }
}
