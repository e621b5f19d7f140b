import JSONFormat
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityModel
import StatusClient
import Testing

@testable import StatusAPI

@Suite struct FormatsTests {
  @Test(arguments: [
    ("0s", Duration.zero), ("1us", .microseconds(1)), ("500ms", .milliseconds(500)), ("5s", .seconds(5)),
    ("2m", .seconds(120)), ("1h", .seconds(3600)), ("8760h", .seconds(31_536_000)), ("007s", .seconds(7)),
    ("999999999us", .microseconds(999_999_999)),
  ])
  func durationIsANumberAndAUnit(text: String, expected: Duration) {
    #expect(DurationFormat.parse(text) == expected)
  }

  @Test(arguments: [
    "", "s", "5", "5 s", " 5s", "5s ", "+5s", "-5s", "1.5s", "1e3s", "5S", "5sec", "5d", "8761h", "999999999h",
    "1234567890s", "٥s", "５s", "0x5s", "5ss", "1m30s", "inf", "5\u{0}s",
  ])
  func invalidDurationsAreRejected(text: String) {
    #expect(DurationFormat.parse(text) == nil)
  }

  @Test func everyCharacterRoundTripsThroughJSON() throws {
    let scalars =
      (0...0x2fff).compactMap(Unicode.Scalar.init) + ["\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{10ffff}", "💡"]
    for scalar in scalars {
      let text = "a\(scalar)b"
      let bytes = JSON.array([.string(text)]).bytes
      let back = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String])
      #expect(back.first?.unicodeScalars.elementsEqual(text.unicodeScalars) == true, "\(scalar.value)")
      #expect(bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    }
  }

  @Test func jsonValuesAreWrittenCompactly() {
    let value = JSON.members([
      "null": nil, "yes": true, "no": false, "one": 1, "least": .integer(.min), "half": .number(0.5),
      "none": .number(.infinity), "empty": .array([]), "object": .members([:]), "list": .list(["a", "b"]),
      "text": .text(nil),
    ])
    #expect(
      String(decoding: value.bytes, as: UTF8.self)
        == #"{"null":null,"yes":true,"no":false,"one":1,"least":-9223372036854775808,"half":0.5,"none":null,"#
        + #""empty":[],"object":{},"list":["a","b"],"text":null}"#)
  }

  @Test(
    "Numbers that no service sends are a setting or are left out",
    arguments: ["1e308", "-1e308", "9223372036854775807", "-1", "1e-320", "null"])
  func foreignTarget(_ number: String) throws {
    let document = try JSON.parse(
      Array(
        """
        {"id":"a","target":"tcp://a:1","module":"tcp_connect","intervalSeconds":\(number),"fall":\(number),
         "timeoutSeconds":\(number)}
        """.utf8))
    #expect(TargetFormatter.configuration(document)?.hasPrefix("{ id: \"a\"") == true)
  }

  @Test func updateIsFormattedAsLineEventAndVariables() throws {
    let service = try ScriptedService()
    let recorder = UpdateRecorder()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let kinds: Transition.Kinds = [.status, .path, .host]
    let subscription = service.monitor.listen(to: kinds, watching: [target], on: .immediate) { recorder.record($0) }
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    subscription?.cancel()
    let updates = recorder.updates
    let lost = try #require(updates.first { $0.transition?.kind == .status })
    #expect(UpdateFormatter.line(lost) == "2026-01-01T00:00:00.010000Z notReachable linkDown eth0 via 10.0.0.1")
    let facts = Dictionary(uniqueKeysWithValues: UpdateFormatter.facts(lost).map { ($0.name, $0.value) })
    #expect(facts["REACHD_STATUS"] == "notReachable")
    #expect(facts["REACHD_CONNECTION_TYPE"]?.isEmpty == true)
    #expect(facts["REACHD_REASON"] == "linkDown")
    #expect(facts["REACHD_INTERFACE"] == "eth0")
    #expect(facts["REACHD_CAUSE"] == "carrierLost")
    #expect(facts["REACHD_INITIAL"] == "0")
    #expect(facts["REACHD_HOST"]?.isEmpty == true)
    let host = try #require(updates.last { $0.host?.path.status == .notReachable })
    #expect(UpdateFormatter.line(host) == "2026-01-01T00:00:00.010000Z 10.0.0.9 notReachable linkDown eth0")
    let first = try #require(updates.first)
    #expect(UpdateFormatter.facts(first).contains { $0.name == "REACHD_INITIAL" && $0.value == "1" })
    for update in updates {
      let json = Data(UpdateFormatter.json(update, epoch: "6f1c2a90").utf8)
      let event = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
      #expect(["snapshot", "status", "host"].contains(event["type"] as? String))
    }
  }

  @Test func snapshotIsFormattedAsLineAndDocument() throws {
    let snapshot = try ScriptedService().monitor.snapshot
    #expect(StatusFormatter.line(snapshot) == "reachable ethernetOrWiFi eth0 via 10.0.0.1")
    #expect(
      StatusFormatter.json(snapshot).hasPrefix("{\"status\":\"reachable\",\"connectionType\":\"ethernetOrWiFi\","))
    #expect(!StatusFormatter.json(snapshot).contains("\n"))
  }
}
