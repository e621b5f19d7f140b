import EmbeddedHTTPServer
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import History
@testable import StatusAPI

/// Real answers against the contract.
@Suite struct ResponseTests {
  let contract: OpenAPIDocument
  init() throws { contract = try OpenAPIDocument() }

  /// A machine in a state, and the reason that its responses must give.
  struct Case: Sendable, CustomTestStringConvertible {
    var reason: String?
    var script: KernelScript
    /// Each request is sent with each media type; two states suffice, because the choice does not depend on the state.
    var hasEveryMediaType = false
    var testDescription: String { reason ?? "reachable" }
  }

  static let cases: [Case] = [
    Case(reason: nil, script: .wired, hasEveryMediaType: true),
    Case(reason: nil, script: .script(.wwan)),
    Case(reason: nil, script: .script(.tunnel) { $0.flags.insert(.pointToPoint) }),
    Case(reason: nil, script: .script(.ppp) { $0.operationalState = .dormant }),
    Case(reason: "noRoute", script: KernelScript(), hasEveryMediaType: true),
    Case(reason: "noRoute", script: .script(.ethernet) { $0.flags.remove(.up) }),
    Case(reason: "unreachableRoute", script: .script(.ethernet, route: .unreachable)),
    Case(reason: "blackhole", script: .script(.ethernet, route: .blackhole)),
    Case(reason: "prohibited", script: .script(.ethernet, route: .prohibit)),
    Case(reason: "linkDown", script: .script(.wifi) { $0.operationalState = .lowerLayerDown }),
    Case(reason: "noSource", script: .script(.ethernet, addresses: [])),
    Case(reason: "connectionRequired", script: .script(.wifi) { $0.operationalState = .dormant }),
  ]

  static let targets =
    [
      "/", "/status", "/status?require=reachable", "/interfaces", "/events", "/livez", "/readyz?verbose", "/healthz",
      "/readyz/kernel", "/readyz/disk", "/metrics", "/hosts/default", "/hosts/local-link",
      "/hosts/10.0.0.9",
      "/hosts/192.0.2.1", "/hosts/2001:db8::1", "/hosts/127.0.0.1", "/hosts/10.0.0.5", "/hosts/10.0.0.255",
      "/hosts/224.0.0.1", "/hosts/fe80::1%25eth0", "/hosts/10.0.0.9?source=10.0.0.5&interface=eth0",
      "/hosts/10.0.0.9?source=10.9.9.9", "/hosts/10.0.0.9?interface=eth9", "/hosts/localhost",
      "/hosts/db.internal?resolve=none", "/hosts/http:%2F%2Fx", "/status?x=1", "/hosts/a:1", "/interfaces?a&a",
      "/check?target=tcp://10.0.0.9:1", "/check?target=tcp://192.0.2.1:1&require=up&ip=both&count=2", "/check",
      "/check?target=tcp://a", "/check?target=icmp://10.0.0.9&count=3&timeout=1s", "/explain?target=https://10.0.0.9/",
      "/explain?target=route://default", "/explain?target=tcp://192.0.2.1:1", "/check?target=route://localhost",
    ] + historyTargets

  static let historyTargets = [
    "/history", "/history?limit=1", "/history?since=-1h&until=-1s&types=target,service&states=down,running&order=asc",
    "/history?subject=machine&subject=target:db", "/history?subject=x", "/history?cursor=1", "/history?cursor=e1",
    "/history?since=yesterday", "/history?order=up", "/history?limit=0", "/targets/db/history", "/targets/none/history",
    "/targets/DB/history", "/targets/db/uptime", "/targets/db/uptime?window=30d&step=1d", "/targets/none/uptime",
    "/targets/db/uptime?step=1m&window=400d", "/targets/db/uptime?window=1s", "/uptime", "/uptime?window=1h&label=env",
    "/uptime?limit=1", "/uptime?cursor=A", "/targets/db/latency", "/targets/db/latency?step=1m&quantiles=0.5,1",
    "/targets/db/latency?step=1d", "/targets/db/latency?step=2h", "/targets/db/latency?quantiles=2",
    "/targets/none/latency", "/gates/app/history", "/gates/none/history", "/gates/APP/uptime", "/gates/app/uptime",
    "/history?subject=gate:app&types=gate&states=open,closed", "/targets/db/badge.svg",
    "/targets/db/badge.svg?metric=uptime&window=30d",
    "/targets/db/badge.svg?metric=latency", "/targets/db/badge.svg?metric=x", "/targets/none/badge.svg",
  ]

  @Test(arguments: cases)
  func everyResponseMatchesTheContract(state: Case) throws {
    let machine = try ScriptedMachine(state.script)
    if let reason = state.reason { #expect(try Value(json: machine.ask("/status").text)["reason"]?.text == reason) }
    let others = ["text/plain", "application/json", "application/health+json", "image/png"]
    for target in Self.targets {
      for accept in [nil] + (state.hasEveryMediaType ? others : []) { try check(machine, target, accept) }
    }
    try check(machine, "/status", nil, method: "POST")
    try check(machine, "/status", nil, host: "evil.example")
  }

  /// Once, because it does not depend on the state, and to parse it takes longer than all others.
  @Test func theDocumentItselfMatchesTheContract() throws {
    #expect(try check(ScriptedMachine(), "/openapi.yaml", nil) == 200)
  }

  @Test func responsesWithoutKernelAndDuringDrainMatchTheContract() throws {
    let machine = try ScriptedMachine(started: false)
    func checkAll() throws {
      for target in Self.targets where !target.hasPrefix("/hosts/localhost") { try check(machine, target, nil) }
    }
    try checkAll()
    #expect(try Value(json: machine.ask("/status").text)["reason"]?.text == "starting")
    try machine.monitor.start()
    machine.kernel.fail(KernelError(operation: "recvmsg", errno: 5, message: "I/O error"))
    try checkAll()
    #expect(try Value(json: machine.ask("/status").text)["reason"]?.text == "kernelUnavailable")
    machine.service.beginDrain()
    try checkAll()
    machine.kernel.refuseStart(KernelError(operation: "socket", errno: 1, message: "no"))
    machine.monitor.stop()
    try check(machine, "/hosts/10.0.0.9", nil)
  }

  @Test func failedAndRateLimitedNamesMatchTheContract() throws {
    let machine = try ScriptedMachine()
    try check(machine, "/hosts/db.internal?timeout=200ms", nil)
    for _ in 0..<25 { try check(machine, "/hosts/localhost", nil) }
  }

  @Test func targetResponsesMatchTheContract() throws {
    let machine = try ScriptedMachine()
    let one = #"{"id": "db", "target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#
    let near = #"{"id": "near", "target": "tcp://127.0.0.1:1"}"#
    let asked: [(method: String, target: String, body: String, status: Int)] = [
      ("GET", "/targets", "", 200), ("POST", "/targets", one, 201), ("POST", "/targets", one, 409),
      ("POST", "/targets", "[\(one), \(near), 7]", 200), ("POST", "/targets", near, 403),
      ("POST", "/targets", "{", 400),
      ("POST", "/targets", "", 415), ("POST", "/targets", #"{"id": 1}"#, 422), ("PUT", "/targets/db", one, 200),
      ("PUT", "/targets/x", #"{"target": "route://10.0.0.9"}"#, 201), ("PUT", "/targets/a", one, 422),
      ("PUT", "/targets/A", one, 400), ("PUT", "/targets/near", near, 403), ("POST", "/targets/db/check", "", 200),
      ("GET", "/targets/db/explain", "", 200), ("GET", "/targets/none/explain", "", 404),
      ("POST", "/targets/db/pause", "", 200), ("POST", "/targets/db/check", "", 409),
      ("GET", "/targets/db/explain", "", 409), ("GET", "/targets/A/explain", "", 400),
      ("POST", "/targets/db/resume", "", 200), ("POST", "/targets/none/check", "", 404), ("GET", "/targets", "", 200),
      ("GET", "/targets?limit=1&label=env", "", 200), ("GET", "/targets?limit=0", "", 400),
      ("GET", "/targets/db", "", 200), ("GET", "/targets/none", "", 404), ("DELETE", "/targets/none", "", 404),
      ("DELETE", "/targets/A", "", 400), ("POST", "/targets/A/pause", "", 400),
    ]
    for (method, target, body, status) in asked {
      #expect(try check(machine, target, nil, method: method, body: body) == status, "\(method) \(target) \(body)")
    }
  }

  @Test func gateResponsesMatchTheContract() throws {
    let machine = try ScriptedMachine()
    let one = #"{"targets": ["db"], "select": {"env": "prod"}, "clients": true, "atLeast": "50%", "openAfter": "1h"}"#
    let asked: [(method: String, target: String, body: String, status: Int)] = [
      ("GET", "/gates", "", 200), ("PUT", "/gates/app", one, 201), ("PUT", "/gates/app", one, 200),
      ("GET", "/gates", "", 200), ("GET", "/gates/app", "", 200), ("GET", "/gates/app?require=open", "", 503),
      ("GET", "/gates/app?require=x", "", 400), ("GET", "/gates/none", "", 404), ("GET", "/gates/NONE", "", 400),
      ("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#, 201),
      ("GET", "/gates/app/members", "", 200), ("GET", "/gates/app/members?state=up,down&limit=1", "", 200),
      ("GET", "/gates/app/members?state=x", "", 400), ("GET", "/gates/none/members", "", 404),
      ("PUT", "/gates/app", #"{"select": {"env": "prod"}, "atLeast": "0.5%"}"#, 200), ("GET", "/gates/app", "", 200),
      ("PUT", "/gates/app", "{}", 422), ("PUT", "/gates/app", "{", 400), ("PUT", "/gates/app", "", 415),
      ("PUT", "/gates/m", #"{"machine": {"connectionType": "wwan"}}"#, 201), ("GET", "/gates/m", "", 200),
      ("PUT", "/gates/m", #"{"machine": "reachable"}"#, 200), ("GET", "/gates/m?require=open", "", 200),
      ("GET", "/gates/app/history", "", 503), ("GET", "/gates/app/uptime", "", 503),
      ("DELETE", "/gates/none", "", 404), ("DELETE", "/gates/A", "", 400),
      ("POST", "/gates", "", 405), ("GET", "/events", "", 200),
    ]
    for (method, target, body, status) in asked {
      for accept in method == "GET" && status != 400 ? [nil, "application/json", "text/plain"] : [nil] {
        let answer = try check(machine, target, accept, method: method, body: body)
        #expect(answer == status || answer == 406, "\(method) \(target) \(body): \(answer)")
      }
    }
  }

  @Test func redactedTargetsMatchTheContract() throws {
    let machine = try ScriptedMachine()
    let secret = #"{"id": "db", "target": "https://10.0.0.9/?key=secret"}"#
    #expect(try check(machine, "/targets", nil, method: "POST", body: secret) == 201)
    // The page of another site may read targets, and not change them.
    for target in ["/targets", "/targets/db", "/targets/overview"] {
      #expect(try check(machine, target, nil, site: "cross-site") == 200)
      #expect(try !machine.ask(target, ["Sec-Fetch-Site": "cross-site"]).text.contains("secret"))
    }
  }

  @Test func historyResponsesMatchTheContract() throws {
    let data = try TemporaryDirectory()
    let runtime = try TemporaryDirectory(in: "/dev/shm")
    let store = try HistoryStore.open(
      StoreConfiguration(
        directory: data.path, runtimeDirectory: runtime.path,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
    let history = HistoryKeeper(store)
    try store.start()
    defer { store.close(within: .seconds(5)) }
    let machine = try ScriptedMachine(history: history)
    try check(
      machine, "/targets", nil, method: "POST",
      body: #"{"id": "db", "target": "tcp://10.0.0.9:1", "labels": {"env": "a"}}"#)
    try check(machine, "/targets", nil, method: "POST", body: #"{"id": "dc", "target": "tcp://10.0.0.9:1"}"#)
    try check(machine, "/targets/db/check", nil, method: "POST")
    try check(machine, "/gates/app", nil, method: "PUT", body: #"{"machine": "reachable"}"#)
    for target in Self.historyTargets {
      for accept in [nil, "application/json", "application/x-ndjson", "image/svg+xml"] {
        try check(machine, target, accept)
      }
    }
    #expect(Set(history.recorder.samples(of: "target:db", -1).map(\.state)) == [.up], "the results of its checks")
    #expect(try check(machine, "/history", nil) == 200)
    #expect(try check(machine, "/targets/db/uptime?step=1h", nil) == 200)
    #expect(try check(machine, "/targets/db/latency?step=1m", nil) == 200)
    #expect(try check(machine, "/targets/none/uptime", nil) == 404)
    func states() -> Set<String> {
      let entries = (try? Value(json: machine.ask("/history").text)["history"]?.elements) ?? []
      return Set(entries.compactMap { $0["to"]?.text })
    }
    #expect(eventually { states() == ["unknown", "up", "reachable", "running", "open"] }, "\(states())")
  }

  /// Asks and compares status, media type, headers and body with what is written.
  @discardableResult
  private func check(
    _ machine: ScriptedMachine, _ target: String, _ accept: String?, method: String = "GET", host: String = "localhost",
    body: String = "", site: String? = nil
  ) throws -> Int {
    var headers: HTTPHeaders = ["Host": host]
    headers["Sec-Fetch-Site"] = site
    headers["Accept"] = accept
    let response = try machine.ask(target, headers, method: method, body: body)
    let location = "\(method) \(target) as \(accept ?? "anything"): \(response.status) \(response.mediaType ?? "")"
    let segments = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)[1...]
    let operations = contract.operations.filter { operation in
      let pattern = operation.path.split(separator: "/", omittingEmptySubsequences: false)[1...]
      return pattern.count == segments.count && zip(pattern, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    // What a method that is not there is answered stands with the others.
    let operation = try #require(operations.first { $0.method == method } ?? operations.first)
    let promised = try #require(operation.responses["\(response.status)"], "\(location) is not documented")
    let content = try #require(promised["content"]?[response.mediaType ?? ""], "\(location) is not documented")
    for (name, header) in promised["headers"]?.members ?? [:] {
      let header = contract.resolved(header)
      guard let value = response.headers[name] else {
        // What the HTTP room refuses gets its Retry-After there.
        #expect(header["required"] != .bool(true), "\(location) lacks \(name)")
        continue
      }
      let isNumber = header["schema"]?["type"]?.text == "integer"
      let schema = Schema(contract: contract, value: header["schema"] ?? .null)
      #expect(
        schema.violations(isNumber ? .number(Double(value) ?? .nan) : .string(value)) == [], "\(location) \(name)")
    }
    let isJSON = response.mediaType?.hasSuffix("json") == true && response.mediaType != "application/x-ndjson"
    let isYAML = response.mediaType == "application/yaml"
    let value = isJSON || isYAML ? try Value(json: response.text) : .string(response.text)
    #expect(Schema(contract: contract, value: content["schema"] ?? .null).violations(value) == [], "\(location)")
    return response.status
  }
}
