import Credentials
import EmbeddedHTTPServer
import History
import Locks
import Logging
import NetworkReachability
import ReachabilityChecks
import ReachabilityModel
import TestSupport
import Testing

@testable import Webhooks

/// Deliveries over real sockets, the real kernel and a real store; the process is replaced by a new dispatcher.
@Suite("Deliveries over HTTP")
struct RealDeliveryTests {
  /// What arrived at the receiver.
  struct Request: Sendable {
    var id: String
    var signature: String
    var timestamp: String
    var type: String
    var body: [UInt8]

    init(_ request: HTTPRequest) {
      id = request.headers["webhook-id"] ?? ""
      signature = request.headers["webhook-signature"] ?? ""
      timestamp = request.headers["webhook-timestamp"] ?? ""
      type = request.headers["Content-Type"] ?? ""
      body = request.body
    }
  }

  /// A receiver whose answer can change.
  final class Receiver: Sendable {
    /// What the server's handler and the test share.
    private final class Shared: Sendable {
      let received = Locked<[Request]>([])
      let status = Locked(204)
    }

    private let shared = Shared()
    let server: HTTPServer

    init() throws {
      let shared = shared
      server = HTTPServer(
        configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)),
        handler: { request in
          let answer = shared.status.withLock(\.self)
          if answer == 204 { shared.received.withLock { $0.append(Request(request)) } }
          return .now(HTTPResponse(status: answer, headers: ["Retry-After": "0"], body: .none))
        }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
      try server.start()
    }

    deinit { server.stop() }

    var requests: [Request] { shared.received.withLock(\.self) }
    func answer(_ code: Int) { shared.status.withLock { $0 = code } }
  }

  private static let secret = SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

  @Test("The receiver fails, and the dispatcher is replaced five times: nothing is lost, and the order is kept")
  func failures() async throws {
    let data = try TemporaryDirectory()
    let runtime = try TemporaryDirectory(in: "/dev/shm")
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let store = try HistoryStore.open(
      StoreConfiguration(directory: data.path, runtimeDirectory: runtime.path, logger: logger))
    try store.start()
    defer { store.close(within: .seconds(10)) }
    let receiver = try Receiver()
    let events = MemoryEvents()
    let monitor = ReachabilityMonitor()
    try monitor.start()
    defer { monitor.stop() }
    let secret = try #require(Self.secret)
    let url = try CheckTarget("http://127.0.0.1:\(receiver.server.boundAddress.port)/hook?key=1")
    let webhook = WebhookDefinition(id: "ops", url: url, secrets: [secret])

    func dispatcher() -> WebhookDispatcher {
      let dispatcher = WebhookDispatcher(
        monitor: monitor, checker: Checker(monitor: monitor), source: events, storage: WebhookTables(store),
        configuration: .init(machine: "m", policy: { ContactPolicy() }), logger: logger)
      dispatcher.configure([webhook])
      dispatcher.start()
      return dispatcher
    }
    func append(_ count: Int, _ dispatcher: WebhookDispatcher) {
      events.append(count, at: SystemCheckClock().time)
      dispatcher.eventsAvailable(through: events.end)
    }

    var current = dispatcher()
    #expect(eventually { current.report("ops")?.state == .idle })
    // The first position is stored after the webhook is idle. A dispatcher that finds none begins at the present end.
    let isStored = Locked(false)
    #expect(
      eventually {
        WebhookTables(store).load { positions in if positions?["ops"] != nil { isStored.withLock { $0 = true } } }
        return isStored.withLock(\.self)
      })
    append(20, current)
    #expect(eventually { receiver.requests.count == 20 })
    for round in 0..<5 {
      receiver.answer(round % 2 == 0 ? 503 : 500)
      append(5, current)
      #expect(eventually { current.report("ops")?.lastFailure != nil })
      // As after a kill, the next dispatcher knows only what is stored.
      current.stop()
      current = dispatcher()
      #expect(eventually { current.report("ops")?.lastFailure != nil })
      receiver.answer(204)
      // Without the wait for the next attempt.
      current.perform(.resume, on: "ops") { _ in }
      #expect(eventually { current.report("ops")?.pending == 0 })
    }
    var seen: Set<String> = []
    let ids = receiver.requests.map(\.id).filter { seen.insert($0).inserted }
    #expect(ids == (1...45).map { "e-\($0)" })
    for request in receiver.requests {
      let seconds = try #require(Int64(request.timestamp))
      #expect(request.signature == secret.signature(id: request.id, timestamp: seconds, body: request.body))
      #expect(request.type == "application/cloudevents+json; charset=utf-8")
    }
    current.stop()
  }

  @Test("A port of the service itself receives nothing")
  func ownPort() async throws {
    let receiver = try Receiver()
    let port = receiver.server.boundAddress.port
    let monitor = ReachabilityMonitor()
    try monitor.start()
    defer { monitor.stop() }
    let secret = try #require(Self.secret)
    let events = MemoryEvents()
    let dispatcher = WebhookDispatcher(
      monitor: monitor, checker: Checker(monitor: monitor), source: events, storage: events,
      configuration: .init(machine: "m", policy: { ContactPolicy(ownPorts: [port]) }),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    dispatcher.configure([
      WebhookDefinition(id: "ops", url: try CheckTarget("http://127.0.0.1:\(port)/"), secrets: [secret])
    ])
    dispatcher.start()
    #expect(eventually { dispatcher.report("ops")?.state == .idle })
    events.append(1, at: SystemCheckClock().time)
    dispatcher.eventsAvailable(through: 1)
    #expect(eventually { dispatcher.report("ops")?.lastFailure?.detail?.contains("may not be contacted") == true })
    #expect(receiver.requests.isEmpty)
    dispatcher.stop()
  }
}
