import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Parameters whose values are lists.
@Suite struct ListParameterTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    for id in ["a", "b"] {
      let labels = (0..<20).map { "\"l\($0)\": \"x\"" }.joined(separator: ", ")
      _ = try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1", "labels": {\#(labels)}}"#)
    }
  }

  private func ids(_ query: String) throws -> [String] {
    let targets = try #require(try service.ask("/targets?\(query)").object()["targets"] as? [[String: Any]])
    return targets.compactMap { $0["id"] as? String }
  }

  @Test func wordsAreASet() {
    #expect(ListParameter.words("b,a,b,,a,") == ["b", "a", ""])
    #expect(ListParameter.words("") == [""])
  }

  @Test func repeatedSelectorsSelectTheSame() throws {
    let repeated = Array(repeating: "l0", count: 1_900).joined(separator: ",")
    #expect(try ids("label=\(repeated)") == ["a", "b"])
    #expect(try ids("label=\(repeated),missing").isEmpty)
    #expect(try ids("label=l0,l0%3Dx,l1").count == 2)
  }

  @Test(arguments: ["/targets?", "/targets/overview?"])
  func selectorsHaveALimit(route: String) throws {
    let sixteen = (0..<16).map { "l\($0)" }.joined(separator: ",")
    #expect(try service.ask("\(route)label=\(sixteen)").status == 200)
    #expect(try service.ask("\(route)label=\(sixteen),l3").status == 200)
    let refused = try service.ask("\(route)label=\(sixteen),l16")
    #expect(refused.status == 400)
    #expect(try refused.object()["detail"] as? String == "label must have at most 16 selectors, got 17")
  }

  @Test func repeatedNamesCountOnce() throws {
    let ids = Array(repeating: "id=a", count: 100).joined(separator: "&")
    let overview = try service.ask("/targets/overview?\(ids)&id=b").object()
    #expect(overview["id"] as? [String] == ["a", "b"])
    let states = Array(repeating: "up,down,unknown", count: 500).joined(separator: ",")
    #expect(try self.ids("state=\(states)") == ["a", "b"])
    #expect(try service.problem("/targets?state=\(states),lost") == "badRequest")
    let types = Array(repeating: "status,target", count: 500).joined(separator: ",")
    #expect(try service.ask("/events?types=\(types)", ["Accept": "application/json"]).status == 200)
  }

  @Test func spellingsOfASelectionShareAnOverview() throws {
    for id in ["a", "b"] { try service.wait(for: id, toBe: "up") }
    // The overview of a minute is made again when the minute ends in between.
    let isShared = eventually {
      guard let first = try? service.ask("/targets/overview?label=l0,l1&state=up,unknown&id=a&id=b") else {
        return false
      }
      // Another latency without an event: an overview that is made again has other bytes.
      var result = TargetRoutesTests.result(.up)
      result.duration = .milliseconds(Int64.random(in: 1_000...1_000_000))
      service.prober.follow { [result] _ in result }
      for id in ["a", "b"] { _ = try? service.send("POST", "/targets/\(id)/check") }
      return [
        "label=l1,l0&state=unknown,up&id=b&id=a", "id=a&id=b&id=a&label=l0,l1,l1&state=up,unknown,up",
        "state=up,unknown&label=l0,l1&id=a&id=b",
      ].allSatisfy { query in
        guard let other = try? service.ask("/targets/overview?\(query)") else { return false }
        return other.bytes == first.bytes && other.headers["ETag"] == first.headers["ETag"]
      }
    }
    #expect(isShared)
  }

  @Test func conditionsAreNotEvaluatedUnderTheLockOfTheSchedule() {
    let schedule = service.service.schedule
    let found = schedule.reports { report in schedule.report(of: report.definition.id) != nil }
    #expect(found.count == 2)
  }
}
