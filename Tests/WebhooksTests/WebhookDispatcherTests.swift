import Credentials
import Locks
import Logging
import NetworkReachabilityTesting
import ReachabilityChecks
import ReachabilityModel
import Testing

@testable import Webhooks

@Suite("Webhook dispatchers")
struct WebhookDispatcherTests {
  /// A dispatcher over a scripted kernel, prober and clock.
  final class Setup {
    let kernel: ScriptedKernel
    let prober = ScriptedProber()
    let clock = ScriptedClock(time: Timestamp(microseconds: 1_700_000_000_500_000))
    let events: MemoryEvents
    let monitor: ReachabilityMonitor
    let dispatcher: WebhookDispatcher

    init(_ events: MemoryEvents = MemoryEvents(), isOffline: Bool = false) throws {
      self.events = events
      var script = KernelScript()
      script.addLoopback()
      script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
      if !isOffline { script.addDefault(via: "10.0.0.1", on: 2) }
      let kernel = ScriptedKernel(script)
      self.kernel = kernel
      monitor = ReachabilityMonitor(configuration: .init(settle: .zero), kernel: kernel)
      dispatcher = WebhookDispatcher(
        monitor: monitor, checker: Checker(monitor: monitor, prober: prober), source: events, storage: events,
        configuration: .init(machine: "m", policy: { ContactPolicy() }), clock: clock,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
      try monitor.start()
    }

    func start(_ webhooks: [WebhookDefinition]) {
      dispatcher.configure(webhooks)
      dispatcher.start()
      clock.advance()
    }

    /// Removes the default route, or adds it.
    func setRoute(_ isPresent: Bool) {
      kernel.change([isPresent ? .routeAdded : .routeRemoved]) { script in
        script.removeDefaults(.ipv4)
        if isPresent { script.addDefault(via: "10.0.0.1", on: 2) }
      }
      clock.advance()
      clock.advance()
    }

    func append(_ count: Int = 1) {
      events.append(count, at: clock.time)
      dispatcher.eventsAvailable(through: events.end)
      clock.advance()
    }

    /// Answers the request in progress; the next one follows.
    func answer(_ status: Int, retryAfter: String? = nil) {
      let time = clock.time
      prober.answer { _ in WebhookDispatcherTests.result(status, time, retryAfter) }
      clock.advance()
    }

    var sent: [String] { prober.requests.compactMap { WebhookDispatcherTests.field("webhook-id", $0) } }
    var open: [String] { prober.open.compactMap { WebhookDispatcherTests.field("webhook-id", $0) } }
  }

  static func result(_ status: Int, _ time: Timestamp, _ retryAfter: String? = nil) -> CheckResult {
    var evidence = CheckResult.Evidence()
    evidence.http = CheckResult.HTTP(status: status, version: "1.1", retryAfter: retryAfter)
    return CheckResult(
      (200...299).contains(status) ? .up : .down, address: IPAddress("10.9.0.1"), startedAt: time, duration: .zero,
      evidence: evidence)
  }

  static func field(_ name: String, _ request: CheckRequest) -> String? {
    guard let options = request.module.options[HTTPOptions.self] else { return nil }
    return options.headers.first { $0.name == name }?.value
  }

  static func webhook(
    _ id: String = "ops", _ url: String = "https://10.9.0.1/hook?key=s3cret", filter: WebhookFilter = WebhookFilter()
  ) throws -> WebhookDefinition {
    let secret = try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    return WebhookDefinition(id: id, url: try CheckTarget(url), secrets: [secret], filter: filter)
  }

  @Test("Events are sent in order, one at a time, and the position is stored")
  func order() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append(3)
    #expect(setup.open == ["e-1"])
    setup.answer(204)
    #expect(setup.open == ["e-2"])
    #expect(setup.events.positions["ops"]?.settled == 1)
    setup.answer(200)
    setup.answer(200)
    #expect(setup.sent == ["e-1", "e-2", "e-3"])
    #expect(setup.events.positions["ops"]?.settled == 3)
    #expect(setup.events.results == [.delivered, .delivered, .delivered])
    #expect(setup.dispatcher.report("ops")?.state == .idle)
  }

  @Test("A request is a signed CloudEvent with the attempt's time")
  func request() throws {
    let setup = try Setup()
    let webhook = try Self.webhook()
    setup.start([webhook])
    setup.append()
    let request = try #require(setup.prober.open.first)
    guard let options = request.module.options[HTTPOptions.self] else { throw WrongModule() }
    #expect(options.method == "POST")
    #expect(options.maximumRedirects == 0)
    #expect(options.bodyLimit == 4_096)
    #expect(request.timeout == .seconds(15))
    #expect(Self.field("Content-Type", request) == "application/cloudevents+json; charset=utf-8")
    #expect(Self.field("webhook-timestamp", request) == "1700000000")
    let body = Array(try #require(options.body).utf8)
    let expected = webhook.secrets[0].signature(id: "e-1", timestamp: 1_700_000_000, body: body)
    #expect(Self.field("webhook-signature", request) == expected)
  }

  struct WrongModule: Error {}

  @Test("Two secrets make two signatures, and a reload changes them")
  func rotation() throws {
    let setup = try Setup()
    var webhook = try Self.webhook()
    setup.start([webhook])
    webhook.secrets.insert(try #require(SigningSecret("whsec_" + String(repeating: "B", count: 32))), at: 0)
    setup.dispatcher.configure([webhook])
    setup.clock.advance()
    setup.append()
    let signatures = try #require(setup.prober.open.first.flatMap { Self.field("webhook-signature", $0) })
    #expect(signatures.split(separator: " ").count == 2)
  }

  @Test("A failure is repeated after a second, with the same id and a new time")
  func retry() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append()
    setup.answer(503)
    #expect(setup.open == [])
    #expect(setup.dispatcher.report("ops")?.state == .retrying)
    setup.clock.advance(by: .milliseconds(1_300))
    #expect(setup.open == ["e-1"])
    #expect(setup.prober.open.first.flatMap { Self.field("webhook-timestamp", $0) } == "1700000001")
  }

  @Test("Retry-After of the answer is obeyed")
  func retryAfter() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append()
    setup.answer(429, retryAfter: "60")
    setup.clock.advance(by: .seconds(59))
    #expect(setup.open == [])
    setup.clock.advance(by: .seconds(2))
    #expect(setup.open == ["e-1"])
  }

  @Test("Without a route nothing is sent; its return sends immediately, without a clock")
  func held() throws {
    let setup = try Setup(isOffline: true)
    setup.start([try Self.webhook()])
    setup.append()
    setup.clock.advance(by: .seconds(3_600))
    #expect(setup.sent == [])
    #expect(setup.dispatcher.report("ops")?.state == .held)
    setup.setRoute(true)
    #expect(setup.open == ["e-1"])
  }

  @Test("The route of the receiver's port counts, where policy rules match ports")
  func transportRule() throws {
    let setup = try Setup()
    let query = RouteQuery(try #require(IPAddress("10.9.0.1")), transport: TransportSelector(.tcp, port: 443))
    setup.kernel.change([.ruleChanged]) { $0.overrides[query] = .refused(.prohibited) }
    setup.start([try Self.webhook()])
    setup.append()
    setup.clock.advance()
    #expect(setup.open == [])
    #expect(setup.dispatcher.report("ops")?.state == .held)
    setup.kernel.change([.ruleChanged]) { $0.overrides[query] = nil }
    setup.clock.advance()
    setup.clock.advance()
    #expect(setup.open == ["e-1"])
  }

  @Test("A lost route cancels the request; the message is sent again when it returns")
  func lostRoute() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append()
    #expect(setup.open == ["e-1"])
    setup.setRoute(false)
    #expect(setup.open == [])
    #expect(setup.dispatcher.report("ops")?.state == .held)
    setup.setRoute(true)
    #expect(setup.open == ["e-1"])
  }

  @Test("Two webhooks with one receiver are two requests")
  func twins() throws {
    let setup = try Setup()
    setup.start([try Self.webhook("a"), try Self.webhook("b")])
    setup.append()
    #expect(setup.open == ["e-1", "e-1"])
  }

  @Test("A hanging disk delays no delivery")
  func hangingDisk() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.events.hang()
    setup.append(3)
    for _ in 0..<3 { setup.answer(200) }
    #expect(setup.sent == ["e-1", "e-2", "e-3"])
    #expect(setup.events.positions["ops"]?.settled == 0)
  }

  @Test("A failed save is repeated with the next change")
  func failedSave() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.events.fail(true)
    setup.append(2)
    setup.answer(200)
    setup.events.fail(false)
    setup.answer(200)
    #expect(setup.events.positions["ops"]?.settled == 2)
    #expect(setup.events.results == [.delivered, .delivered])
  }

  @Test("A restart continues after the stored position")
  func restart() throws {
    let events = MemoryEvents(positions: ["ops": WebhookPosition(epoch: "e", settled: 2)])
    events.append(4, at: Timestamp(microseconds: 1_700_000_000_000_000))
    let setup = try Setup(events)
    setup.start([try Self.webhook()])
    #expect(setup.open == ["e-3"])
  }

  @Test("A new filter applies to events that are not sent yet")
  func changedFilter() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append(3)
    var webhook = try Self.webhook()
    webhook.filter.types = ["status"]
    setup.dispatcher.configure([webhook])
    setup.clock.advance()
    setup.answer(200)
    #expect(setup.sent == ["e-1"])
    #expect(setup.dispatcher.report("ops")?.pending == 0)
  }

  @Test("A removed webhook sends nothing, and continues when it is added again")
  func removed() throws {
    let setup = try Setup()
    let webhook = try Self.webhook()
    setup.start([webhook])
    setup.append()
    setup.answer(200)
    setup.dispatcher.configure([])
    setup.clock.advance()
    setup.append(2)
    #expect(setup.open == [])
    setup.dispatcher.configure([webhook])
    setup.clock.advance()
    #expect(setup.open == ["e-2"])
  }

  @Test("A report has no secret")
  func secrets() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    let report = try #require(setup.dispatcher.report("ops"))
    #expect(report.definition.origin == "https://10.9.0.1")
    #expect(!"\(report.definition.secrets)".contains("Mf"))
  }
}
