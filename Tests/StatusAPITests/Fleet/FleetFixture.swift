import EmbeddedHTTPServer
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

/// Two replicas on one engine, and agents that a test writes.
struct FleetFixture {
  let engine = MemoryEngine()
  let replicas: [ScriptedService]
  let services: [FleetService]
  /// Headers with a token of the scope `admin`.
  let admin: HTTPHeaders

  init() throws {
    let engine = engine
    let token = try AccessPolicyTests.token("admin", [.admin])
    admin = token.headers
    var replicas = try (0..<2).map { _ in try AccessPolicyTests.service(.init(), [token.configured]) }
    services = (0..<2).map { number in
      FleetService(
        id: "r\(number)", hello: NodeHello(role: .replica, version: "1"), engine: engine, members: engine,
        logger: .silent)
    }
    for (number, service) in services.enumerated() {
      replicas[number].router = replicas[number].service.makeRouter(serving: service)
      service.start()
    }
    self.replicas = replicas
    try waitUntil { $0.isComplete && $0.fold.presentReplicas.count == 2 }
  }

  func waitUntil(_ condition: (FleetSnapshot) -> Bool) throws {
    let isTrue = eventually { services.allSatisfy { condition($0.snapshot) } }
    try #require(isTrue, "a replica did not reach the state")
  }

  func hello(_ agent: String, zone: String = "z", address: String? = nil) {
    let hello = NodeHello(role: .agent, zone: zone, address: address, version: "1")
    engine.publish(.node(NodeMessage(id: agent, .hello(hello, restates: false))))
  }

  @discardableResult
  func say(_ agent: String, _ number: UInt64, _ target: String, _ state: TargetState) -> UInt64 {
    let cell = FleetCellState(state, state == .up ? nil : .noRoute, since: Timestamp(microseconds: 0))
    let change = FleetCellChange(
      number: number, target: target, old: .unknown, cell: cell, time: Timestamp(microseconds: 0))
    return engine.publish(
      .agent(
        AgentMessage(
          agent: agent, epoch: "e", after: 0,
          .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [change])))))
  }

  func ask(
    _ path: String, _ headers: HTTPHeaders = [:], method: String = "GET", body: String = "", replica: Int = 0
  ) throws -> HTTPResponse {
    var headers = headers
    if !body.isEmpty { headers["Content-Type"] = "application/json" }
    return try replicas[replica].ask(path, headers, method: method, body: Array(body.utf8))
  }

  func put(_ id: String, _ body: String, _ headers: HTTPHeaders = [:]) throws -> HTTPResponse {
    try ask("/fleet/targets/\(id)", headers, method: "PUT", body: body)
  }
}
