import Foundation
import EmbeddedHTTPServer
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

/// `dependsOn` of targets of the fleet over HTTP.
@Suite struct FleetDependencyRoutesTests {
  let fleet: FleetFixture

  init() throws {
    fleet = try FleetFixture()
    for id in ["core", "a"] { _ = try put(id, "[]") }
  }

  private func put(_ id: String, _ dependsOn: String, _ more: String = "", replica: Int = 0) throws -> HTTPResponse {
    try fleet.ask(
      "/fleet/targets/\(id)", method: "PUT",
      body: #"{"target": "tcp://10.0.0.9:1", "dependsOn": \#(dependsOn)\#(more)}"#, replica: replica)
  }

  @Test("Entries are stored, returned by every replica and sent back")
  func roundTrip() throws {
    #expect(try put("db", #"["core", {"anyOf": ["a", "core"]}]"#).status == 201)
    try fleet.waitUntil { $0.fold.targets["db"] != nil }
    for replica in 0..<2 {
      let read = try fleet.ask("/fleet/targets/db", replica: replica)
      #expect(read.text.contains(#""dependsOn":["core",{"anyOf":["a","core"]}]"#))
      #expect(read.text.contains(#""dependency":null"#))
      #expect(try fleet.put("db", read.text).text == read.text)
    }
    #expect(try fleet.ask("/fleet/targets").text.contains(#""dependsOn":["core",{"anyOf":["a","core"]}]"#))
    #expect(try fleet.ask("/fleet/targets/core").text.contains(#""dependsOn":[]"#))
    #expect(try put("db", "[]").headers["ETag"]?.hasPrefix("\"2.") == true)
  }

  @Test(
    "Refusals name the entry and what would be right",
    arguments: [
      (#""core""#, "/dependsOn", "expected an array"), (#"[5]"#, "/dependsOn/0", "expected an id or"),
      (#"[{"anyOf": "a"}]"#, "/dependsOn/0", "expected an id or"), (#"[{"anyOf": []}]"#, "/dependsOn", "anyOf has 0"),
      (#"["Core"]"#, "/dependsOn", #""Core" is not an id"#), (#"["db"]"#, "/dependsOn", "db depends on itself"),
      (#"["a", "a"]"#, "/dependsOn", "an entry is repeated"),
      (#"["nothing"]"#, "/dependsOn", #"there is no target "nothing" to depend on; targets of a fleet"#),
      (#"["mesh.node1"]"#, "/dependsOn", #"there is no target "mesh.node1""#),
    ])
  func refusals(dependsOn: String, pointer: String, text: String) throws {
    let answer = try put("db", dependsOn)
    #expect(answer.status == 422 && answer.text.contains(#""pointer":"\#(pointer)""#), "\(answer.text)")
    #expect(answer.text.replacingOccurrences(of: #"\""#, with: "\"").contains(text), "\(answer.text)")
    #expect(try fleet.ask("/fleet/targets/db").status == 404)
  }

  @Test("A cycle and a long chain are refused, and nothing has changed then")
  func graph() throws {
    #expect(try put("t1", #"["a"]"#).status == 201)
    for number in 2...7 { #expect(try put("t\(number)", #"["t\#(number - 1)"]"#).status == 201) }
    let long = try put("t8", #"["t7"]"#)
    #expect(long.status == 422 && long.text.contains("more than 8 targets depend on each other"))
    let above = try put("a", #"["core"]"#)
    #expect(above.status == 422 && above.text.contains("more than 8"))
    let cycle = try put("t2", #"["t4"]"#)
    #expect(cycle.status == 422 && cycle.text.contains("t2 → t4 → t3 → t2 is a cycle"))
    #expect(try fleet.ask("/fleet/targets/t2").text.contains(#""dependsOn":["t1"]"#))
  }

  @Test("A target on which others depend is deleted only with force, after it was removed from them")
  func deletion() throws {
    for number in 0..<40 { #expect(try put("t\(number)", #"["core", {"anyOf": ["a", "core"]}]"#).status == 201) }
    let refused = try fleet.ask("/fleet/targets/core", method: "DELETE")
    #expect(refused.status == 409 && refused.text.contains("t0, t1, t10") && refused.text.contains("and 8 more"))
    #expect(try fleet.ask("/fleet/targets/core?force=x", method: "DELETE").status == 400)
    #expect(try fleet.ask("/fleet/targets/core?force=false", method: "DELETE").status == 409)
    #expect(try fleet.ask("/fleet/targets/core?force=true", method: "DELETE", replica: 1).status == 204)
    try fleet.waitUntil { $0.fold.targets["core"] == nil }
    for number in 0..<40 {
      let target = try fleet.ask("/fleet/targets/t\(number)")
      #expect(target.text.contains(#""dependsOn":["a"]"#) && target.text.contains(#""version":2"#))
    }
    #expect(try fleet.ask("/fleet/targets/t0?force=true", method: "DELETE").status == 204)
    #expect(try fleet.ask("/fleet/targets/t1", method: "DELETE").status == 204)
  }

  @Test("A verdict has the root of the outage in documents and events")
  func verdict() throws {
    for agent in ["x", "y"] { fleet.hello(agent) }
    #expect(try put("db", #"["core"]"#).status == 201)
    for agent in ["x", "y"] { fleet.say(agent, 1, "core", .down) }
    try fleet.waitUntil { $0.fold.targets["core"]?.verdict?.message.to == .down }
    for agent in ["x", "y"] { fleet.say(agent, 2, "db", .down) }
    try fleet.waitUntil { $0.fold.targets["db"]?.verdict?.message.to == .unreachable }
    let read = try fleet.ask("/fleet/targets/db").text
    #expect(read.contains(#""verdict":"unreachable","reason":"dependencyDown","dependency":"core""#))
    #expect(read.contains(#""down":2"#), "the votes are what the agents see")
    // It answers: a target that works has no cause.
    for agent in ["x", "y"] { fleet.say(agent, 3, "db", .up) }
    try fleet.waitUntil { $0.fold.targets["db"]?.verdict?.message.to == .up }
    #expect(try fleet.ask("/fleet/targets/db").text.contains(#""verdict":"up","reason":null,"dependency":null"#))
  }
}
