import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// `dependsOn` over HTTP.
@Suite struct TargetDependencyTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    let file = try ["core", "a"].map { id in
      TargetDefinition(
        id: id, target: try CheckTarget("tcp://10.0.0.8:1"), interval: .seconds(86_400),
        dependsOn: id == "a" ? [TargetDependency("core")] : [])
    }
    try service.service.schedule.configure(file)
  }

  private func put(_ id: String, _ dependsOn: String, _ more: String = "") throws -> HTTPResponse {
    try service.send(
      "PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1", "dependsOn": \#(dependsOn)\#(more)}"#)
  }

  @Test("Entries are read, returned and sent back")
  func roundTrip() throws {
    #expect(try put("db", #"["core", {"anyOf": ["a", "core"]}]"#).status == 201)
    // Its document is stable then.
    try service.wait(for: "db", toBe: "up")
    let read = try service.send("GET", "/targets/db")
    #expect(read.text.contains(#""dependsOn":["core",{"anyOf":["a","core"]}]"#))
    #expect(try service.send("PUT", "/targets/db", read.text).text == read.text)
    #expect(try service.send("GET", "/targets/core").text.contains(#""dependsOn":[]"#))
    // A client's target may depend on targets of clients, too.
    #expect(try put("shop", #"["db"]"#).status == 201)
    #expect(try put("db", "[]").status == 200)
  }

  @Test(
    "Refusals name the entry and what would be right",
    arguments: [
      (#""core""#, "/dependsOn", "expected an array"), (#"[5]"#, "/dependsOn/0", "expected an id or"),
      (#"[{"anyOf": "a"}]"#, "/dependsOn/0", "expected an id or"),
      (#"["a", {"any": []}]"#, "/dependsOn/1", "expected an id"),
      (#"[{"anyOf": ["a", 7]}]"#, "/dependsOn/0", "expected an id or"),
      (#"[{"anyOf": []}]"#, "/dependsOn", "anyOf has 0"),
      (#"["Core"]"#, "/dependsOn", #""Core" is not an id"#), (#"["db"]"#, "/dependsOn", "db depends on itself"),
      (#"[{"anyOf": ["a", "db"]}]"#, "/dependsOn", "db depends on itself"),
      (#"["a", "a"]"#, "/dependsOn", "an entry is repeated"),
      (#"[{"anyOf": ["a", "a"]}]"#, "/dependsOn", "names a target twice"),
      (#"["nothing"]"#, "/dependsOn", #"there is no target "nothing" to depend on"#),
      (#"[null]"#, "/dependsOn/0", "expected an id or"), (#"{}"#, "/dependsOn", "expected an array"),
    ])
  func refusals(dependsOn: String, pointer: String, text: String) throws {
    let answer = try put("db", dependsOn)
    #expect(answer.status == 422 && answer.text.contains(#""pointer":"\#(pointer)""#), "\(answer.text)")
    #expect(answer.text.replacingOccurrences(of: #"\""#, with: "\"").contains(text), "\(answer.text)")
    #expect(try service.send("GET", "/targets/db").status == 404)
  }

  @Test("A cycle and a long chain are refused over HTTP")
  func graph() throws {
    #expect(try put("t1", #"["a"]"#).status == 201)
    for number in 2...6 { #expect(try put("t\(number)", #"["t\#(number - 1)"]"#).status == 201) }
    let long = try put("t7", #"["t6"]"#)
    #expect(long.status == 422 && long.text.contains("more than 8 targets depend on each other"))
    let cycle = try put("t2", #"["t6"]"#)
    #expect(cycle.status == 422 && cycle.text.contains("t2 → t6 → t5 → t4 → t3 → t2 is a cycle"))
    #expect(try service.send("GET", "/targets/t2").text.contains(#""dependsOn":["t1"]"#), "nothing has changed")
  }

  @Test("A target on which others depend is deleted only with force")
  func deletion() throws {
    for id in ["db", "x", "y"] { _ = try put(id, "[]") }
    _ = try put("x", #"["db"]"#)
    _ = try put("y", #"["core", {"anyOf": ["db", "a"]}]"#)
    let refused = try service.send("DELETE", "/targets/db")
    #expect(refused.status == 409 && refused.text.contains("x, y"))
    #expect(try service.send("DELETE", "/targets/db?force=maybe").status == 400)
    #expect(try service.send("DELETE", "/targets/db?force=false").status == 409)
    #expect(try service.send("DELETE", "/targets/db?force=true").status == 204)
    #expect(try service.send("GET", "/targets/x").text.contains(#""dependsOn":[]"#))
    #expect(try service.send("GET", "/targets/y").text.contains(#""dependsOn":["core","a"]"#))
  }

  @Test("What a deletion leaves of the entries can be sent back")
  func remainder() throws {
    for id in ["db", "x"] { _ = try put(id, "[]") }
    _ = try put("x", #"["core", {"anyOf": ["db", "core"]}]"#)
    #expect(try service.send("DELETE", "/targets/db?force=true").status == 204)
    let left = try service.send("GET", "/targets/x").text
    #expect(left.contains(#""dependsOn":["core"]"#))
    #expect(try service.send("PUT", "/targets/x", left).status == 200)
  }

  @Test("A list of targets is accepted in any order, as GET returns it")
  func list() throws {
    let items = [("b1", #"["m1"]"#), ("m1", #"["z1"]"#), ("own", #"["own"]"#), ("z1", #"["core"]"#)].map {
      id, parents in
      #"{"id": "\#(id)", "target": "tcp://10.0.0.9:1", "dependsOn": \#(parents)}"#
    }
    let body = "[\(items.joined(separator: ", "))]"
    let text = try service.send("POST", "/targets", body).text
    // In the order of the request.
    let results = [("b1", 201), ("m1", 201), ("own", 422), ("z1", 201)].map { id, status in
      text.range(of: #""id":"\#(id)","status":\#(status)"#)?.lowerBound
    }
    let places = results.compactMap(\.self)
    #expect(places.count == 4 && places == places.sorted(), "\(text)")
    #expect(try service.send("GET", "/targets/b1").text.contains(#""dependsOn":["m1"]"#))
  }

  @Test("A reload removes what became invalid from clients' targets, and does not fail")
  func reload() throws {
    _ = try put("db", #"["a", "core"]"#)
    let found = try service.service.schedule.configure([
      TargetDefinition(id: "core", target: try CheckTarget("tcp://10.0.0.8:1"), interval: .seconds(86_400))
    ])
    #expect(found.removedDependencies == ["db": ["a"]])
    #expect(try service.send("GET", "/targets/db").text.contains(#""dependsOn":["core"]"#))
    // The same happens to a chain that the file makes too long.
    for number in 1...6 { _ = try put("t\(number)", number == 1 ? #"["core"]"# : #"["t\#(number - 1)"]"#) }
    _ = try put("mix", #"["t4", "core"]"#)
    let chain = try (0..<4).map { number in
      TargetDefinition(
        id: number == 3 ? "core" : "c\(number)", target: try CheckTarget("tcp://10.0.0.8:1"),
        interval: .seconds(86_400),
        dependsOn: number == 0 ? [] : [TargetDependency("c\(number - 1)")])
    }
    let cut = try service.service.schedule.configure(chain).removedDependencies
    #expect(cut == ["mix": ["t4"], "t5": ["t4"]], "only the entries at which it becomes too long")
    for number in 1...6 {
      let text = try service.send("GET", "/targets/t\(number)").text
      #expect(try service.send("PUT", "/targets/t\(number)", text).status == 200)
    }
  }

  @Test("The explanation names the failing targets up to the root")
  func explanation() throws {
    try service.wait(for: "core", toBe: "up")
    _ = try put("db", #"["a"]"#, #", "fall": 1, "interval": "24h""#)
    try service.wait(for: "db", toBe: "up")
    #expect(
      try service.send("GET", "/targets/db/explain", "", ["Accept": "text/plain"]).text.contains(
        "ok   dependency all of them work"))
    service.prober.follow { _ in TargetRoutesTests.result(.down, .connectTimeout) }
    for id in ["core", "a", "db"] { _ = service.service.schedule.check(id) { _ in } }
    try service.wait(for: "db", toBe: "unreachable")
    #expect(eventually { service.service.schedule.report(of: "db")?.status.dependency == "core" })
    let document = try service.send("GET", "/targets/db/explain").text
    #expect(document.contains(#""state":"unreachable","reason":"dependencyDown""#), "\(document)")
    let text = try service.send("GET", "/targets/db/explain", "", ["Accept": "text/plain"]).text
    #expect(text.contains("FAIL dependency") && text.contains("because core is failing"), "\(text)")
    #expect(text.contains("reachd targets explain core"))
    #expect(try service.send("GET", "/targets/db").text.contains(#""dependency":"core""#))
  }
}
