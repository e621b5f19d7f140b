import History
import Foundation
import EmbeddedHTTPServer
@testable import HTTPRouting
import NetworkReachability
import Testing

@testable import StatusAPI

/// The contract in itself, and against the tables of the code.
@Suite struct OpenAPIDocumentTests {
  let contract: OpenAPIDocument
  init() throws { contract = try OpenAPIDocument() }

  @Test func routesAndOperationsAreTheSame() {
    func line(_ method: String, _ path: String, _ parameters: [String]) -> String {
      "\(method) \(path)?\(parameters.sorted().joined(separator: "&"))"
    }
    let promised = contract.operations.map { operation in
      let query = operation.parameters.filter { $0["in"]?.text == "query" }.compactMap { $0["name"]?.text }
      return line(operation.method, operation.path, query)
    }
    let routed = RouteTable.ofReplica.map { line($0.method, $0.pattern, Array($0.parameters)) }
    #expect(promised == routed)
  }

  @Test func pathParametersMatchThePath() {
    for operation in contract.operations {
      let parts = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
      let declared = operation.parameters.filter { $0["in"]?.text == "path" }
      #expect(declared.compactMap { $0["name"]?.text } == parts.map(String.init), "\(operation.path)")
      #expect(declared.allSatisfy { $0["required"] == .bool(true) })
    }
  }

  @Test func mediaTypesMatchTheRouter() {
    for (operation, route) in zip(contract.operations, RouteTable.ofReplica) {
      // Nothing comes back where something is forgotten.
      guard operation.method != "DELETE" else { continue }
      #expect(operation.mediaTypes == route.mediaTypes.map(\.rawValue), "\(operation.path)")
    }
  }

  @Test func routesHaveSummaries() {
    for operation in contract.operations {
      #expect(operation.value["summary"]?.text?.isEmpty == false)
      #expect(operation.value["operationId"]?.text?.isEmpty == false)
      #expect(operation.value["tags"]?.elements.count == 1)
    }
    let ids = contract.operations.compactMap { $0.value["operationId"]?.text }
    #expect(Set(ids).count == ids.count)
  }

  @Test func operationsListTheirProblems() {
    for operation in contract.operations {
      #expect(operation.responses.keys.contains { $0.hasPrefix("2") }, "\(operation.path)")
      #expect(Set(operation.responses.keys).isSuperset(of: ["400", "403", "405", "406", "503"]))
      for (status, response) in operation.responses where (Int(status) ?? 0) >= 400 {
        let content = response["content"]?["application/problem+json"]
        #expect(content?["schema"]?["$ref"]?.text == "#/components/schemas/Problem", "\(operation.path) \(status)")
        for example in content.map(contract.examples) ?? [] {
          #expect(example["status"] == Double(status).map(Value.number))
          let code = example["code"]?.text.flatMap(Problem.Code.init)
          #expect(code?.title == example["title"]?.text)
          #expect(example["type"]?.text == "urn:reachd:problem:\(code?.rawValue ?? "")")
        }
      }
    }
  }

  @Test func operationsListTheirScope() throws {
    let usual = try #require(contract.value["security"]?.elements)
    #expect(usual.first?.members.isEmpty == true, "without a token, unless it is configured")
    for (operation, route) in zip(contract.operations, RouteTable.ofReplica) {
      let needed = operation.value["security"]?.elements ?? usual
      #expect(needed.compactMap { $0["token"]?.texts.first }.last == route.scope?.rawValue, "\(operation.path)")
      #expect(operation.responses.keys.contains("401") == (route.scope != nil), "\(operation.path)")
    }
  }

  @Test func everyExampleIsValid() {
    for (location, value) in contract.withExamples {
      let schema = Schema(contract: contract, value: value["schema"] ?? .null)
      for example in contract.examples(of: value) { #expect(schema.violations(example) == [], "\(location)") }
    }
  }

  @Test func everyResponseHasAnExample() {
    for (location, value) in contract.withExamples where value["in"] == nil {
      #expect(!contract.examples(of: value).isEmpty, "\(location)")
    }
  }

  @Test func schemaValidatorFindsViolations() throws {
    let status = contract.schema("Status")
    let example = try #require(contract.resolve("#/components/examples/Reachable")["value"])
    #expect(status.violations(example) == [])
    for name in example.members.keys {
      var members = example.members
      members[name] = nil
      #expect(status.violations(.object(members)) != [], "without \(name)")
      members[name] = .object([:])
      #expect(status.violations(.object(members)) != [], "\(name) is no object, or not an empty one")
    }
    #expect(contract.schema("RecentEvents").violations(.array([.object([:])])) != [])
    #expect(contract.schema("EventId").violations(.string("6f1c2a90")) != [])
  }

  @Test func referencesResolveAndComponentsAreUsed() {
    var used: Set<String> = []
    func walk(_ value: Value) {
      if let reference = value["$ref"]?.text {
        #expect(contract.resolve(reference) != .null, "\(reference)")
        used.insert(reference)
      }
      value.members.values.forEach(walk)
      value.elements.forEach(walk)
    }
    walk(contract.value)
    for (kind, components) in contract.value["components"]?.members ?? [:] {
      for name in components.members.keys where !["ByeEvent", "HostEvent", "token"].contains(name) {
        #expect(used.contains("#/components/\(kind)/\(name)"), "\(kind)/\(name)")
      }
    }
  }

  @Test func everyComponentHasADescription() {
    for kind in ["parameters", "responses", "schemas"] {
      for (name, component) in contract.resolve("#/components/\(kind)").members {
        #expect(component["description"]?.text?.isEmpty == false, "\(kind)/\(name)")
      }
    }
  }

  @Test func enumerationsMatchTheCode() throws {
    #expect(contract.words("Flags") == ReachabilityFlags.named.map(\.name))
    #expect(contract.words("Causes") == Cause.inOrder.map(\.rawValue))
    #expect(contract.words("InterfaceType") == InterfaceType.allCases.map(\.rawValue))
    let statuses: [ReachabilityStatus] = [.unknown, .notReachable, .reachable(.wwan)]
    #expect(contract.words("StatusName") == statuses.map(\.name))
    let types: [ReachabilityStatus.ConnectionType] = [.ethernetOrWiFi, .wwan]
    #expect(contract.words("ConnectionType") == types.map(\.rawValue))
    let states = contract.resolve("#/components/schemas/InterfaceState")["properties"]?["operationalState"]?["enum"]
    #expect(states?.texts == Interface.OperationalState.allCases.map { "\($0)" })
    let codes = contract.resolve("#/components/schemas/Problem")["properties"]?["code"]?["enum"]
    #expect(codes?.texts == Problem.Code.allCases.map(\.rawValue))
    let host = contract.resolve("#/components/schemas/Host")["properties"]
    let phases: [HostVerdict.Phase] = [.optimistic, .resolved]
    #expect(host?["phase"]?["enum"]?.texts == phases.map(\.rawValue))
    let address = IPAddress(ipv4: 1)
    let targets = [
      ReachabilityTarget(.name("a")), ReachabilityTarget(.address(address)),
      ReachabilityTarget(.address(address), source: address), .default, .localLink,
    ]
    #expect(host?["kind"]?["enum"]?.texts == targets.map(\.kind))
    let events = contract.operations.first { $0.path == "/events" }?.parameters.first { $0["name"]?.text == "types" }
    let kinds = EventType.published.map(\.name) + ["snapshot", "gap", "bye", "host"]
    #expect(events?["schema"]?["items"]?["enum"]?.texts == kinds)
  }

  /// Reasons are an open type without a list, so the list is read off the source.
  @Test func reasonsMatchTheCode() throws {
    let file = OpenAPIDocument.top.appending(path: "Sources/ReachabilityModel/ReachabilityStatus.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let names = source.matches(of: /= Reason\(rawValue: "([A-Za-z]+)"\)/).map { String($0.output.1) }
    #expect(names.count > 10)
    #expect(contract.words("Reason") == names)
  }

  @Test func contractIsServedUnchanged() throws {
    let machine = try ScriptedMachine()
    #expect(Array(try machine.ask("/openapi.yaml").text.utf8) == contract.bytes)
    #expect(Array(try machine.ask("/openapi.yaml", ["X-Request-Id": "a"]).text.utf8) == contract.bytes)
    #expect(try machine.ask("/openapi.yaml").headers["Content-Type"] == "application/yaml")
  }
}
