import History
import Locks
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import StatusAPI

/// A service with a store in a directory of its own, and clocks that tests set.
final class HistoryFixture {
  let service: ScriptedService
  let store: HistoryStore
  let history: HistoryKeeper
  private let directories: [TemporaryDirectory]
  private let start: StoreTime
  private let clock: Clock

  private final class Clock: Sendable {
    let offset = Locked(StoreTime(wall: 0, uptime: 0))
  }

  /// - Parameters:
  ///   - configuration: the settings.
  ///   - previous: a fixture whose store is closed; its directories are opened again.
  /// - Throws: the error of the store or of the service.
  init(_ configuration: StatusServiceConfiguration = .init(), after previous: HistoryFixture? = nil) throws {
    // In memory: events are published without the store when a disk is slow.
    directories = try previous?.directories ?? (0..<2).map { _ in try TemporaryDirectory(in: "/dev/shm") }
    store = try HistoryStore.open(
      StoreConfiguration(
        directory: directories[0].path, runtimeDirectory: directories[1].path, logger: .silent))
    let clock = Clock()
    self.clock = clock
    start = .now
    let begin = start
    history = HistoryKeeper(store) {
      let offset = clock.offset.withLock(\.self)
      return StoreTime(wall: begin.wall + offset.wall, uptime: begin.uptime + offset.uptime)
    }
    try store.start()
    // The monitor is not started, so that the store contains only the changes of the test.
    service = try ScriptedService(.wired, started: false, configuration, history: history)
  }

  func close() { store.close(within: .seconds(5)) }

  /// Sets the clocks, in seconds since the start.
  func setTime(_ seconds: Int64, clockStep: Int64 = 0) {
    clock.offset.withLock { $0 = StoreTime(wall: (seconds + clockStep) * 1_000_000, uptime: seconds * 1_000_000) }
  }

  /// Stores a change of a target, in seconds since the start.
  func change(_ id: String, _ old: StateCode, _ new: StateCode, at seconds: Int64, clockStep: Int64 = 0) throws {
    let sequence = store.visibleEnd + 1
    let record = EventRecord(
      sequence: sequence, time: start.wall + (seconds + clockStep) * 1_000_000,
      uptime: start.uptime + seconds * 1_000_000, kind: 3, subject: HistorySubject.target(id), body: [],
      transition: TransitionRecord(type: .target, old: old, new: new, causes: StoredCauses([Cause.check])))
    _ = store.append([record])
    try #require(eventually { store.visibleEnd == sequence })
  }
}
