import Logging
import Locks
import Logging
import ReachabilityModel
import TestSupport

@testable import Netlink

/// Asks fixed questions and keeps every reading.
final class RecordingObserver: KernelObserver {
  private struct State {
    var queries: [RouteQuery]
    var readings: [KernelReading] = []
    var errors: [KernelError] = []
    var isInside = false
    var overlaps = 0
    var onReading: (@Sendable (KernelReading) -> Duration?)?
  }

  private let state: Locked<State>

  init(_ queries: [RouteQuery] = [], onReading: (@Sendable (KernelReading) -> Duration?)? = nil) {
    state = Locked(State(queries: queries, onReading: onReading))
  }

  var readings: [KernelReading] { state.withLock { $0.readings } }
  var errors: [KernelError] { state.withLock { $0.errors } }
  var overlaps: Int { state.withLock { $0.overlaps } }
  var last: KernelReading? { state.withLock { $0.readings.last } }
  var causes: Set<Cause> { state.withLock { $0.readings.reduce(into: []) { $0.formUnion($1.causes) } } }

  func setQueries(_ queries: [RouteQuery]) { state.withLock { $0.queries = queries } }

  /// Forgets the readings so far, so that causes of what follows can be told apart.
  func removeAll() { state.withLock { $0.readings = $0.readings.suffix(1) } }

  /// The last answer to a question.
  func answer(_ destination: IPAddress) -> RouteAnswer? { last?.answers[RouteQuery(destination)] }

  /// Waits until the last answer to a question fulfils a condition.
  func waits(_ destination: IPAddress, _ condition: (RouteAnswer?) -> Bool) -> Bool {
    eventually { condition(answer(destination)) }
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { state.withLock { $0.queries } }

  func ingest(_ reading: KernelReading) -> Duration? {
    let onReading = state.withLock { state in
      if state.isInside { state.overlaps += 1 }
      state.isInside = true
      state.readings.append(reading)
      return state.onReading
    }
    let deadline = onReading?(reading)
    state.withLock { $0.isInside = false }
    return deadline
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) { state.withLock { $0.errors.append(error) } }
}

/// A running source in the client's end of a cable, stopped with the test.
final class RunningSource: Sendable {
  static let ipv4: IPAddress = "192.0.2.1"
  static let ipv6: IPAddress = "2001:db8::1"

  let pair: VethPair
  let observer: RecordingObserver
  let source: NetlinkSource

  var client: Namespace { pair.client }

  init(
    hasDefaults: Bool = true, settings: NetlinkSource.Settings = .init(),
    onReading: (@Sendable (KernelReading) -> Duration?)? = nil
  ) throws {
    pair = try VethPair()
    if hasDefaults { try pair.addDefaultRoutes() }
    observer = RecordingObserver([RouteQuery(Self.ipv4), RouteQuery(Self.ipv6)], onReading: onReading)
    source = NetlinkSource(settings: settings, logger: .init(label: "test"))
    let (source, observer) = (source, observer)
    try pair.client.run { () throws(KernelError) in try source.start(observer) }
  }

  deinit { source.stop() }

  /// Waits until IPv4 and IPv6 are routed or not.
  func becomes(ipv4: Bool? = nil, ipv6: Bool? = nil) -> Bool {
    eventually {
      (ipv4.map { $0 == (observer.answer(Self.ipv4)?.route != nil) } ?? true)
        && (ipv6.map { $0 == (observer.answer(Self.ipv6)?.route != nil) } ?? true)
    }
  }
}
