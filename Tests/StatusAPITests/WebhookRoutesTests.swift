import Credentials
import EmbeddedHTTPServer
@testable import HTTPRouting
import History
import JSONFormat
import Locks
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing
import Webhooks

@testable import StatusAPI

@Suite("Webhook routes")
struct WebhookRoutesTests {
  /// A service with a store and one webhook, whose receiver a scripted prober plays.
  final class Setup {
    let data: TemporaryDirectory
    let runtime: TemporaryDirectory
    let store: HistoryStore
    let prober: ScriptedProber
    let scripted: ScriptedService
    let token: BearerToken

    init(status: Int = 204) throws {
      data = try TemporaryDirectory()
      runtime = try TemporaryDirectory(in: "/dev/shm")
      store = try HistoryStore.open(
        StoreConfiguration(directory: data.path, runtimeDirectory: runtime.path, logger: .silent))
      try store.start()
      let prober = ScriptedProber { _ in
        var evidence = CheckResult.Evidence()
        evidence.http = CheckResult.HTTP(status: status, version: "1.1")
        return CheckResult(.up, startedAt: Timestamp(microseconds: 0), duration: .zero, evidence: evidence)
      }
      self.prober = prober
      token = try #require(BearerToken.make(id: "root"))
      let access = AccessToken(id: "root", digest: try #require(token.digest), scopes: [.admin])
      let store = store
      scripted = try ScriptedService(
        .wired,
        .init {
          $0.access = AccessPolicy(tokens: [access])
          $0.machine = "m"
        },
        webhooks: { WebhookSetup(.store(store), checker: Checker(monitor: $0, prober: prober)) })
      let webhooks = try #require(scripted.service.webhooks)
      let secret = try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
      webhooks.configure([
        WebhookDefinition(
          id: "ops", url: try CheckTarget("https://10.0.0.9/s3cret?key=s3cret"), secrets: [secret],
          filter: WebhookFilter(types: ["status"], labels: ["env": "prod"]))
      ])
      webhooks.start()
      // Loaded, and the first reading has given it a route.
      #expect(eventually { webhooks.report("ops")?.state == .idle })
    }

    deinit {
      scripted.service.webhooks?.stop()
      store.close(within: .seconds(10))
    }

    func ask(_ target: String, method: String = "GET") throws -> HTTPResponse {
      try scripted.ask(target, ["Authorization": "Bearer \(token.text)"], method: method)
    }
  }

  @Test("A service with webhooks is released")
  func release() throws {
    weak var service: StatusService?
    do {
      let setup = try Setup()
      service = setup.scripted.service
      #expect(service != nil)
    }
    #expect(eventually { service == nil })
  }

  @Test("The list and one webhook have the settings and the state, and no secret")
  func documents() throws {
    let setup = try Setup()
    let list = try JSONValue(setup.ask("/webhooks").text)
    let one = try JSONValue(setup.ask("/webhooks/ops").text)
    #expect(list["webhooks"]?[0] == one)
    #expect(one["id"]?.text == "ops")
    #expect(one["origin"]?.text == "https://10.0.0.9")
    #expect(one["state"]?.text == "idle")
    let text = try setup.ask("/webhooks").text + setup.ask("/metrics").text
    for secret in ["s3cret", "whsec", "MfKQ"] { #expect(!text.contains(secret)) }
  }

  @Test("Without webhooks the list is empty")
  func none() throws {
    let service = try ScriptedService()
    #expect(try service.ask("/webhooks").text == "{\"webhooks\":[]}\n")
    #expect(try service.ask("/webhooks/ops").status == 404)
    #expect(try service.ask("/webhooks/ops/deliveries").status == 404)
  }

  @Test("A test message is sent once, and is in the log")
  func test() throws {
    let setup = try Setup(status: 503)
    let response = try setup.ask("/webhooks/ops/test", method: "POST")
    #expect(response.status == 200)
    let delivery = try JSONValue(response.text)
    #expect(delivery["result"]?.text == "failed")
    #expect(delivery["event"]?.text?.hasPrefix("test-") == true)
    #expect(setup.prober.requests.count == 1)
    #expect(
      eventually {
        (try? JSONValue(setup.ask("/webhooks/ops/deliveries?limit=1").text))?["deliveries"]?[0]?["event"]
          == delivery["event"]
      })
  }

  @Test("Pause and resume change the state")
  func pause() throws {
    let setup = try Setup()
    let paused = try JSONValue(setup.ask("/webhooks/ops/pause", method: "POST").text)
    #expect(paused["state"]?.text == "paused")
    #expect(paused["pausedBy"]?.text == "client")
    let resumed = try JSONValue(setup.ask("/webhooks/ops/resume", method: "POST").text)
    #expect(resumed["state"]?.text == "idle")
  }

  @Test("An event that is not stored cannot be sent again", arguments: ["x-1", "00000000-1", "1", "%20"])
  func redeliver(event: String) throws {
    let setup = try Setup()
    #expect(try setup.ask("/webhooks/ops/deliveries/\(event)/redeliver", method: "POST").status == 404)
    #expect(setup.prober.requests.isEmpty)
  }

  @Test("Commands need the scope admin, reads do not")
  func scope() throws {
    let setup = try Setup()
    for path in ["test", "pause", "resume", "deliveries/a-1/redeliver"] {
      #expect(try setup.scripted.ask("/webhooks/ops/\(path)", method: "POST").status == 401)
    }
    #expect(try setup.scripted.ask("/webhooks/ops").status == 200)
    #expect(setup.prober.requests.isEmpty)
  }

  @Test(
    "Invalid pages are refused", arguments: ["limit=0", "limit=1001", "limit=x", "cursor=0", "cursor=x", "cursor=-1"])
  func pages(query: String) throws {
    let setup = try Setup()
    #expect(try setup.ask("/webhooks/ops/deliveries?\(query)").status == 400)
  }

  @Test("The metrics have the webhook's id")
  func metrics() throws {
    let setup = try Setup()
    let text = try setup.ask("/metrics").text
    for line in [
      "reachd_webhook_deliveries_total{webhook=\"ops\",result=\"delivered\"} 0",
      "reachd_webhook_held{webhook=\"ops\"} 0",
      "reachd_webhook_pending{webhook=\"ops\"} 0", "reachd_webhook_oldest_seconds{webhook=\"ops\"} 0",
      "reachd_webhook_paused{webhook=\"ops\"} 0",
    ] { #expect(text.contains(line), "\(line)") }
  }
}
