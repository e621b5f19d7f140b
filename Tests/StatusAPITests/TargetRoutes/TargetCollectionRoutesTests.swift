import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// `/targets`: bodies with their faults, many at once, pages and filters.
@Suite struct TargetCollectionRoutesTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { request in
      TargetRoutesTests.result(request.target.port == 1 ? .down : .up, request.target.port == 1 ? .refused : nil)
    }
  }

  private func post(_ body: String, _ headers: HTTPHeaders = [:]) throws -> HTTPResponse {
    try service.send("POST", "/targets", body, headers)
  }

  // MARK: - Bodies

  @Test(arguments: [
    (#"{"target": "tcp://a:1"}"#, "/id", "missing"), (#"{"id": 5, "target": "tcp://a:1"}"#, "/id", "a string, got"),
    (#"{"id": "A", "target": "tcp://a:1"}"#, "/id", "is not an id"), (#"{"id": "a"}"#, "/target", "missing"),
    (#"{"id": "a", "target": "tcp://a"}"#, "/target", "port is missing"),
    (#"{"id": "a", "target": "gopher://a"}"#, "/target", "unknown scheme"),
    (#"{"id": "a", "target": {}}"#, "/target", "a string, got an object"),
    (#"{"id": "a", "target": "tcp://a:1", "module": "no"}"#, "/module", "unknown module"),
    (#"{"id": "a", "target": "tcp://a:1", "module": "icmp"}"#, "/module", "does not fit"),
    (#"{"id": "a", "target": "tcp://a:1", "module": []}"#, "/module", "a string, got"),
    (#"{"id": "a", "target": "tcp://a:1", "interval": "soon"}"#, "/interval", "got \"soon\""),
    (#"{"id": "a", "target": "tcp://a:1", "interval": 5}"#, "/interval", "got the number 5"),
    (#"{"id": "a", "target": "tcp://a:1", "interval": "1ms"}"#, "/interval", "cannot be"),
    (#"{"id": "a", "target": "tcp://a:1", "intervalSeconds": "5"}"#, "/intervalSeconds", "a number of seconds"),
    (#"{"id": "a", "target": "tcp://a:1", "intervalSeconds": -5}"#, "/intervalSeconds", "got the number -5"),
    (#"{"id": "a", "target": "tcp://a:1", "intervalSeconds": 1e300}"#, "/intervalSeconds", "a number of seconds"),
    (#"{"id": "a", "target": "tcp://a:1", "interval": "5s", "intervalSeconds": 5}"#, "/intervalSeconds", "both given"),
    (#"{"id": "a", "target": "tcp://a:1", "interval": "1s", "timeout": "1s"}"#, "/timeout", "before the interval"),
    (#"{"id": "a", "target": "tcp://a:1", "fastInterval": "1h"}"#, "/fastInterval", "is not possible"),
    (#"{"id": "a", "target": "tcp://a:1", "fall": 0}"#, "/fall", "cannot be 0"),
    (#"{"id": "a", "target": "tcp://a:1", "fall": 1.5}"#, "/fall", "an integer"),
    (#"{"id": "a", "target": "tcp://a:1", "rise": "2"}"#, "/rise", "an integer"),
    (#"{"id": "a", "target": "tcp://a:1", "rise": 99999999999999}"#, "/rise", "cannot be"),
    (#"{"id": "a", "target": "tcp://a:1", "paused": 1}"#, "/paused", "true or false"),
    (#"{"id": "a", "target": "tcp://a:1", "labels": ["x"]}"#, "/labels", "an object of strings"),
    (#"{"id": "a", "target": "tcp://a:1", "labels": {"a/b": 5}}"#, "/labels/a~1b", "a string, got the number 5"),
    (#"{"id": "a", "target": "tcp://a:1", "labels": {"a~b": "x"}}"#, "/labels/a~0b", "is not a label name"),
    (#"{"id": "a", "target": "tcp://a:1", "labels": {"a": "\n"}}"#, "/labels/a", "is not a label value"),
    (#"{"id": "a", "target": "tcp://a:1", "intervall": "5s"}"#, "/intervall", "unknown field"),
    (#""db""#, "", "expected an object"), ("7", "", "expected an object"), ("null", "", "expected an object"),
  ])
  func invalidFieldIsReportedWithItsPointer(body: String, pointer: String, part: String) throws {
    let answer = try post(body)
    #expect(answer.status == 422)
    let problem = try answer.object()
    #expect(problem["code"] as? String == "invalid")
    let errors = try #require(problem["errors"] as? [[String: Any]])
    #expect(errors.map { $0["pointer"] as? String } == [pointer])
    #expect((errors.first?["detail"] as? String)?.contains(part) == true, "\(errors)")
    #expect(service.service.schedule.count == 0)
  }

  @Test func allInvalidFieldsAreReported() throws {
    let answer = try post(#"{"id": "A", "target": 5, "fall": 0, "x": 1, "labels": {"a": 1, "b": 2}}"#)
    #expect(Set(try answer.pointers()) == ["/id", "/target", "/fall", "/x", "/labels/a", "/labels/b"])
    #expect(try (answer.object()["detail"] as? String)?.hasSuffix("and 3 more") == true)
  }

  @Test func nonJSONBodyIsRejected() throws {
    #expect(try post("{", [:]).status == 400)
    #expect(try (post(#"{"id": "a", "id": "b"}"#).object()["detail"] as? String)?.contains("line 1") == true)
    #expect(try post("[]", ["Content-Type": "text/plain"]).status == 415)
    #expect(try post("[]", ["Content-Type": "application/json; charset=utf-8"]).status == 200)
  }

  @Test func targetIsCreatedOnce() throws {
    let body = #"{"id": "db", "target": "tcp://10.0.0.9:5432"}"#
    let made = try post(body)
    #expect(made.status == 201 && made.headers["Location"] == "/targets/db")
    let again = try post(body)
    #expect(again.status == 409)
    #expect(try (again.object()["detail"] as? String)?.contains("PUT /targets/db") == true)
  }

  // MARK: - Many at once

  @Test func batchReportsAResultPerTarget() throws {
    try service.service.schedule.configure([TargetDefinition(id: "file", target: try CheckTarget("tcp://10.0.0.9:2"))])
    _ = try post(#"{"id": "old", "target": "tcp://10.0.0.9:2"}"#)
    let body = """
      [{"id": "new", "target": "tcp://10.0.0.9:2"}, {"id": "old", "target": "tcp://10.0.0.9:3"},
       {"id": "new", "target": "tcp://10.0.0.9:4"}, {"id": "file", "target": "tcp://10.0.0.9:5"},
       {"id": "bad", "target": "tcp://10.0.0.9"}, 7, {"id": "near", "target": "tcp://127.0.0.1:1"}]
      """
    for (body, prefix) in [(body, ""), (#"{"targets": \#(body)}"#, "/targets")] {
      let answer = try post(body)
      #expect(answer.status == 200)
      let results = try #require(try answer.object()["results"] as? [[String: Any]])
      let isFirst = prefix.isEmpty
      #expect(results.map { $0["status"] as? Int } == [isFirst ? 201 : 200, 200, 422, 409, 422, 422, 403])
      #expect(results.map { $0["id"] as? String } == ["new", "old", "new", "file", "bad", nil, "near"])
      let tag = (results[0]["etag"] as? String)?.prefix { $0 != "." }
      #expect(tag == (try service.ask("/targets/new").definitionTag))
      #expect(results[3]["code"] as? String == "conflict" && results[6]["code"] as? String == "policyDenied")
      let pointers = results.map { ($0["errors"] as? [[String: Any]])?.first?["pointer"] as? String }
      #expect(pointers[2] == prefix + "/2/id" && pointers[4] == prefix + "/4/target" && pointers[5] == prefix + "/5")
    }
    #expect(service.service.schedule.reports().map(\.definition.id) == ["file", "new", "old"])
    #expect(try service.ask("/targets/new").object()["target"] as? String == "tcp://10.0.0.9:2", "the first counts")
  }

  @Test func targetsAboveTheLimitAreRefused() throws {
    let definitions = try (0..<10_000).map {
      TargetDefinition(id: "t\($0)", target: try CheckTarget("route://10.0.0.9"), isPaused: true)
    }
    try service.service.schedule.configure(definitions)
    let alone = try post(#"{"id": "more", "target": "tcp://10.0.0.9:2"}"#)
    #expect(alone.status == 403)
    #expect(try (alone.object()["detail"] as? String)?.contains("at most 10000 targets") == true)
    let results = try post(#"[{"id": "more", "target": "tcp://10.0.0.9:2"}]"#).object()["results"] as? [[String: Any]]
    #expect(results?.first?["status"] as? Int == 403)
    #expect(service.service.schedule.count == 10_000)
  }

  // MARK: - The list

  private func list(_ query: String = "") throws -> (ids: [String], next: String?, link: String?) {
    let answer = try service.ask("/targets" + query)
    #expect(answer.status == 200)
    let body = try answer.object()
    let ids = (body["targets"] as? [[String: Any]])?.compactMap { $0["id"] as? String }
    return (try #require(ids), body["next"] as? String, answer.headers["Link"])
  }

  @Test func pagesListAllTargetsByID() throws {
    #expect(try list() == ([], nil, nil))
    let targets = (1...7).map {
      #"{"id": "t\#($0)", "target": "route://10.0.0.\#($0)", "labels": {"odd": "\#($0 % 2)"}}"#
    }
    #expect(try post("[" + targets.reversed().joined(separator: ",") + "]").status == 200)
    let first = try list("?limit=3")
    #expect(first.ids == ["t1", "t2", "t3"] && first.next == "t3")
    #expect(first.link == "</targets?limit=3&cursor=t3>; rel=\"next\"")
    // What goes or comes in between shifts nothing.
    #expect(try service.send("DELETE", "/targets/t3").status == 204)
    #expect(try post(#"{"id": "t0", "target": "route://10.0.0.9"}"#).status == 201)
    let second = try list("?limit=3&cursor=t3")
    #expect(second.ids == ["t4", "t5", "t6"])
    let last = try list("?limit=3&cursor=t6")
    #expect(last.ids == ["t7"] && last.next == nil && last.link == nil)
    let odd = try list("?label=odd%3D1&limit=2")
    #expect(odd.ids == ["t1", "t5"] && odd.link == "</targets?label=odd%3D1&limit=2&cursor=t5>; rel=\"next\"")
    #expect(try list("?label=odd%3D1&limit=2&cursor=t5") == (["t7"], nil, nil))
  }

  @Test func textListHasALinePerTarget() throws {
    _ = try post(
      #"[{"id": "b", "target": "tcp://10.0.0.9:1"}, {"id": "a", "target": "route://10.0.0.9", "paused": true}]"#)
    try service.wait(for: "b", toBe: "down")
    let answer = try service.ask("/targets", ["Accept": "text/plain"])
    #expect(answer.headers["Content-Type"] == "text/plain; charset=utf-8")
    #expect(
      answer.text.contains(
        /^paused a route:\/\/10\.0\.0\.9 since \S+Z\ndown b tcp:\/\/10\.0\.0\.9:1 refused since \S+Z\n$/))
    let page = try service.ask("/targets?limit=1", ["Accept": "text/plain"])
    #expect(
      page.text.split(separator: "\n").count == 1 && page.headers["Link"] == "</targets?limit=1&cursor=a>; rel=\"next\""
    )
  }

  @Test func labelsAndStatesFilter() throws {
    _ = try post(
      """
      [{"id": "a", "target": "tcp://10.0.0.9:2", "labels": {"env": "prod", "team": "x"}},
       {"id": "b", "target": "tcp://10.0.0.9:1", "labels": {"env": "test"}},
       {"id": "c", "target": "tcp://10.0.0.9:2", "paused": true}]
      """)
    try service.wait(for: "a", toBe: "up")
    try service.wait(for: "b", toBe: "down")
    #expect(try list("?state=up").ids == ["a"])
    #expect(try list("?state=up,down").ids == ["a", "b"])
    #expect(try list("?state=paused").ids == ["c"])
    #expect(try list("?label=env").ids == ["a", "b"])
    #expect(try list("?label=env%3Dprod").ids == ["a"])
    #expect(try list("?label=env,team%3Dx").ids == ["a"])
    #expect(try list("?label=env%3D").ids == [])
    #expect(try list("?label=env&state=down").ids == ["b"])
    #expect(try list("?state=unreachable").ids == [])
  }

  @Test(arguments: [
    "state=", "state=up,", "state=UP", "state=up&state=down", "label=", "label==x", "label=a,,b", "limit=0",
    "limit=1001", "limit=-1", "limit=+1", "limit=ten", "cursor=", "cursor=A", "cursor=a%20b", "page=2",
  ])
  func invalidQueryIsRejected(query: String) throws {
    let answer = try service.ask("/targets?\(query)")
    #expect(answer.status == 400)
    #expect(try (answer.object()["detail"] as? String)?.isEmpty == false)
  }
}
