import ReachabilityChecks
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// Definitions of gates in request bodies: errors and limits.
@Suite struct GateDefinitionTests {
  let service: ScriptedService

  init() throws { service = try ScriptedService() }

  @Test(arguments: [
    ("{}", ""), ("[]", ""), (#"{"targets": []}"#, ""), (#"{"targets": "db"}"#, "/targets"),
    (#"{"targets": ["DB"]}"#, "/targets"), (#"{"targets": [1]}"#, "/targets"), (#"{"machine": "up"}"#, "/machine"),
    (#"{"machine": {"connectionType": "lte"}}"#, "/machine"), (#"{"machine": {}}"#, "/machine"),
    (#"{"machine": true}"#, "/machine"), (#"{"select": {"tier": 1}}"#, "/select"),
    (#"{"select": {"": "x"}}"#, "/select"),
    (#"{"select": ["tier"]}"#, "/select"), (#"{"select": {"a": "b"}, "atLeast": 0}"#, "/atLeast"),
    (#"{"select": {"a": "b"}, "atLeast": "0%"}"#, "/atLeast"),
    (#"{"select": {"a": "b"}, "atLeast": "101%"}"#, "/atLeast"),
    (#"{"select": {"a": "b"}, "atLeast": true}"#, "/atLeast"), (#"{"targets": ["a"], "atLeast": 1}"#, "/atLeast"),
    (#"{"targets": ["a"], "clients": true}"#, "/clients"), (#"{"targets": ["a"], "clients": 1}"#, "/clients"),
    (#"{"targets": ["a"], "openAfter": "25h"}"#, "/openAfter"), (#"{"targets": ["a"], "openAfter": 5}"#, "/openAfter"),
    (#"{"targets": ["a"], "openAfter": "-1s"}"#, "/openAfter"), (#"{"targets": ["a"], "paused": true}"#, "/paused"),
    (#"{"targets": ["a"], "paused": "open"}"#, "/paused"), (#"{"target": ["a"]}"#, "/target"),
    (#"{"targets": ["a"], "id": "other"}"#, "/id"),
    (#"{"select": ["tier"], "atLeast": 1, "clients": true}"#, "/select"),
    (#"{"select": {"tier": "a\u0001b"}}"#, "/select"),
    (#"{"targets": ["a", null]}"#, "/targets"), (#"{"target": ["a"], "select": {}}"#, "/target"),
    (#"{"machine": {"connectionType": "wwan", "more": 1}}"#, "/machine"), (#"{"machine": 1}"#, "/machine"),
    (#"{"targets": ["a"], "openAfter": null}"#, "/openAfter"), (#"{"select": {"a": "b"}, "atLeast": 1.5}"#, "/atLeast"),
    (#"{"select": {"a": "b"}, "atLeast": 99999999999}"#, "/atLeast"), (#"{"select": {"a": null}}"#, "/select"),
  ])
  func invalidDefinitionsAreRefused(body: String, pointer: String) throws {
    let answer = try service.send("PUT", "/gates/app", body)
    #expect(answer.status == 422, "\(answer.text)")
    #expect(try answer.pointers() == [pointer], "\(answer.text)")
    #expect(try service.ask("/gates/app").status == 404)
  }

  @Test func allErrorsOfADefinitionAreReported() throws {
    let body = #"{"targets": ["DB", "x"], "atLeast": 0, "openAfter": "25h", "paused": 1, "more": 1, "machine": "up"}"#
    let answer = try service.send("PUT", "/gates/app", body)
    let expected = ["/atLeast", "/atLeast", "/machine", "/more", "/openAfter", "/paused", "/targets"]
    #expect(try answer.status == 422 && answer.pointers().sorted() == expected, "\(answer.text)")
    // A response is not many times larger than its request.
    let many = "{\"targets\": [\((0..<5_000).map { _ in "\"\"" }.joined(separator: ","))]}"
    #expect(try service.send("PUT", "/gates/app", many).text.utf8.count < 4_000)
    let value = String(repeating: "x", count: 129)
    #expect(try service.send("PUT", "/gates/app", #"{"select": {"a": "\#(value)"}}"#).pointers() == ["/select"])
  }

  @Test func numberOfNamesIsLimited() throws {
    func put(_ gate: String, _ count: Int) throws -> HTTPResponse {
      let names = (0..<count).map { "\"\(gate).\($0)\"" }.joined(separator: ",")
      return try service.send("PUT", "/gates/\(gate)", "{\"targets\": [\(names)]}")
    }
    for number in 0..<10 { #expect(try put("g\(number)", 1_000).status == 201) }
    let refused = try put("more", 1)
    #expect(try refused.status == 403 && refused.object()["code"] as? String == "quotaExceeded", "\(refused.text)")
    #expect(try put("g0", 999).status == 200)
    #expect(try put("more", 1).status == 201)
    #expect(try put("g0", 1_001).status == 422)
  }

  @Test func numberOfGatesIsLimited() throws {
    for number in 0..<GateSpec.Bounds.gates {
      _ = try service.send("PUT", "/gates/g\(number)", #"{"machine": "reachable"}"#)
    }
    let refused = try service.send("PUT", "/gates/more", #"{"machine": "reachable"}"#)
    #expect(refused.status == 403)
    #expect(try refused.object()["code"] as? String == "quotaExceeded")
    #expect(try service.send("PUT", "/gates/g0", #"{"targets": ["a"]}"#).status == 200)
  }
}
