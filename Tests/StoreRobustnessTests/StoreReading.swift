import Credentials
import Database
import DequeModule
import EventLoop
import FleetAPI
import HTTPRouting
import History
import JSONFormat
import Locks
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Webhooks

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// The service over a data directory, as in the program, with a scripted kernel and a scripted prober.
struct StoreReading {
  /// Longer than anything here takes: what exceeds it hangs.
  private static let patience = Duration.seconds(20)

  private let kernel: ScriptedKernel
  private let monitor: ReachabilityMonitor
  private let store: HistoryStore
  private let history: HistoryKeeper
  private let service: StatusService
  private let outbox: AgentOutbox

  /// Opens a changed store twice, and restores, reads and writes everything.
  ///
  /// - Throws: a `TestError` for what does not end or is not committed.
  static func use(_ damaged: DamagedStore) throws {
    for start in ["first", "second"] {
      do {
        let reading = try StoreReading(damaged.data.path, damaged.runtime.path)
        try reading.readAll()
        try reading.fill()
        guard reading.isKeeping else { throw TestError("events are not committed") }
        guard reading.close() else { throw TestError("the store does not close") }
      } catch StoreError.newerSchema {
        // Refused, and not changed.
      } catch {
        throw TestError("\(error); \(start) start after: \(damaged.changes.joined(separator: "; "))")
      }
    }
  }

  /// Opens the store and restores everything.
  ///
  /// - Throws: a ``StoreError`` if the directory is refused.
  init(_ data: String, _ runtime: String) throws {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    store = try HistoryStore.open(StoreConfiguration(directory: data, runtimeDirectory: runtime, logger: logger))
    history = HistoryKeeper(store)
    try store.start()
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
    kernel = ScriptedKernel(script)
    monitor = ReachabilityMonitor(configuration: .init(nameServers: []), kernel: kernel)
    let prober = ScriptedProber { request in
      let isUp = request.target.port != 9
      var evidence = CheckResult.Evidence()
      evidence.http = CheckResult.HTTP(status: 204, version: "1.1")
      return CheckResult(
        isUp ? .up : .down, isUp ? nil : .refused, startedAt: .now, duration: .milliseconds(3), evidence: evidence)
    }
    let checker = Checker(monitor: monitor, prober: prober)
    service = StatusService(
      monitor: monitor, checker: checker, targetChecker: checker,
      webhooks: WebhookSetup(.store(store), checker: checker),
      history: history, logger: logger)
    outbox = service.makeAgentOutbox()
    service.webhooks?.configure([
      WebhookDefinition(
        id: "ops", url: try CheckTarget("http://10.0.0.9/hook"),
        secrets: [SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")].compactMap(\.self))
    ])
    service.webhooks?.start()
    try monitor.start()
  }

  /// Whether events are committed, possibly after a damaged file was set aside.
  private var isKeeping: Bool { eventually(within: Self.patience) { store.state == .keeping } }

  /// Ends everything; false if the store did not end in time.
  func close() -> Bool {
    service.webhooks?.stop()
    service.detach()
    monitor.stop()
    return store.close(within: Self.patience)
  }

  // MARK: - Writing

  /// Changes interfaces and targets, checks, and writes samples of several hours.
  func fill() throws {
    for (id, port) in [("a", 1), ("b", 9), ("c", 1)] {
      _ = try ask(
        "/targets/\(id)", method: "PUT", body: #"{"target": "tcp://10.0.0.\#(port + 8):\#(port)", "fall": 1}"#)
    }
    _ = try ask("/targets/c/pause", method: "POST")
    for mtu in UInt32(1400)..<1404 { kernel.change { $0.change("eth0") { $0.mtu = mtu } } }
    for id in ["a", "b"] { try check(id) }
    let now = history.time.wall / 1_000
    for minute in Int64(0)..<180 {
      let sample = Sample(
        time: now - minute * 60_000, latency: UInt32(minute * 10), state: minute % 7 == 0 ? .down : .up)
      history.record(sample, of: HistorySubject.target("a"))
    }
    try maintain(at: history.time)
    try maintain(at: history.time)
  }

  private func check(_ id: String) throws {
    let hasEnded = Locked(false)
    guard service.schedule.check(id, { _ in hasEnded.withLock { $0 = true } }) else { return }
    try wait("the check of \(id)") { hasEnded.withLock(\.self) }
  }

  /// Writes the samples and applies the retention, as the store does once a minute.
  private func maintain(at time: StoreTime) throws {
    try write { [history] (connection) throws(DatabaseError) in
      let flushed = try history.recorder.flush(connection, at: time)
      history.recorder.committed(flushed)
    }
    try write { [history] (connection) throws(DatabaseError) in
      var progress = RetentionProgress()
      for _ in 0..<3 {
        guard try HistoryRetention.apply(connection, RetentionPolicy(), &progress, now: history.time) else { return }
      }
    }
  }

  /// Waits for a statement, unless the disk is not available for it.
  private func write(_ statement: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Void) throws {
    let hasEnded = Locked(false)
    store.write(statement) { _ in hasEnded.withLock { $0 = true } }
    try wait("a statement") { [store] in
      if hasEnded.withLock(\.self) { return true }
      if case .detached = store.state { return true }
      return false
    }
  }

  private func wait(_ what: String, _ condition: () -> Bool) throws {
    guard eventually(within: Self.patience, condition) else { throw TestError("\(what) does not end") }
  }

  // MARK: - Reading

  /// Reads everything that clients, webhooks and a fleet read.
  ///
  /// - Throws: a `TestError` for a request without a response, and for an incomplete document.
  func readAll() throws {
    let epoch = store.recovered.epoch
    for path in Self.paths { try read(path) }
    for number in ["0", "1", "5", "\(store.visibleEnd)", "9223372036854775807", "18446744073709551615"] {
      try read("/events?lastEventId=\(epoch)-\(number)", accept: "application/json")
    }
    try read("/events?since=-400d", accept: "application/json")
    try readOutbox()
  }

  private static let paths: [String] =
    [
      "/status", "/interfaces", "/targets", "/targets/overview", "/metrics", "/readyz?verbose", "/webhooks",
      "/webhooks/ops", "/webhooks/ops/deliveries?limit=1000", "/webhooks/ops/deliveries?cursor=9223372036854775807",
      "/uptime?window=400d", "/uptime?window=1m", "/history?limit=1000", "/history?order=asc&limit=1000",
      "/history?since=-400d&until=-1m", "/history?since=0000-01-01&until=9999-12-31&order=asc",
      "/history?subject=target:a&subject=interface:eth0&subject=machine&types=target,interface&states=down,usable",
      "/history?cursor=e1y2p0ij32e8e7", "/history?cursor=e1",
    ]
    + ["a", "b", "c"].flatMap { id in
      [
        "", "/history", "/uptime?window=400d", "/uptime?window=5d&step=1h", "/uptime?window=1h&step=1m",
        "/latency?step=1m",
        "/latency?step=1h&window=90d", "/latency?step=1d&window=400d", "/badge.svg?metric=uptime&window=400d",
        "/badge.svg?metric=latency", "/badge.svg",
      ].map { "/targets/\(id)\($0)" }
    }

  private func read(_ path: String, accept: String? = nil) throws {
    let response = try ask(path, accept: accept)
    guard response.status < 500 || response.status == 503 else {
      throw TestError("\(path): status \(response.status)")
    }
    let isJSON = response.headers["Content-Type"]?.hasPrefix("application/json") == true
    guard case .bytes(let bytes) = response.body, isJSON, path != "/events" else { return }
    // Frames of damaged events are sent as they are stored.
    if path.hasPrefix("/events") { return }
    // A stored text may have the character U+0000, which the parser refuses although JSON permits it.
    _ = try JSON.parse(Array(String(decoding: bytes, as: UTF8.self).replacing("\\u0000", with: "").utf8))
  }

  private func readOutbox() throws {
    let acknowledged = Locked<FleetAcknowledgement??>(nil)
    outbox.load { found in acknowledged.withLock { $0 = .some(found) } }
    try wait("the acknowledgement") { acknowledged.withLock { $0 != nil } }
    let saved = acknowledged.withLock { $0 ?? nil }
    var chain = FleetAgentChain(agent: "m", epoch: outbox.epoch, last: outbox.end, saved: saved)
    _ = chain.handle(.connection(true), at: .zero)
    _ = chain.backlog
    let hasBase = Locked(false)
    outbox.base { _ in hasBase.withLock { $0 = true } }
    try wait("the base") { hasBase.withLock(\.self) }
    for number in Set([0, 1, saved?.acked ?? 0, saved?.ackedEver ?? 0, outbox.end]) {
      let hasPage = Locked(false)
      outbox.changes(after: number, limit: 100) { _ in hasPage.withLock { $0 = true } }
      try wait("the changes after \(number)") { hasPage.withLock(\.self) }
    }
    outbox.save(FleetAcknowledgement(epoch: outbox.epoch, acked: saved?.acked ?? 0, ackedEver: saved?.ackedEver ?? 0))
  }

  private func ask(_ target: String, method: String = "GET", accept: String? = nil, body: String = "") throws
    -> HTTPResponse
  {
    var headers: HTTPHeaders = ["Host": "127.0.0.1:8080"]
    if let accept { headers["Accept"] = accept }
    if !body.isEmpty { headers["Content-Type"] = "application/json" }
    let request = HTTPRequest(
      method: method, target: target, headers: headers, body: Array(body.utf8), peer: "127.0.0.1:50000",
      isLoopbackListener: true)
    let inbox = try HTTPServerInbox()
    let promise = HTTPPromise(inbox: inbox, connection: 1, request: 1)
    var answer: HTTPResponse?
    switch Router(service).handle(request) {
    case .now(let response): return response
    case .later(let start): start(promise)
    case .wait(let waiting):
      // A change waits for its commit, which does not come while the disk is not available.
      _ = waiting.begin(promise)
      if case .detached = store.state { return waiting.expired() }
    }
    try wait(target) {
      for case .reply(_, _, let response) in inbox.take().messages { answer = response }
      return answer != nil
    }
    guard let answer else { throw TestError("\(target): no response") }
    return answer
  }
}
