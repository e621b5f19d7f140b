import EmbeddedHTTPServer
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import StatusAPI

@Suite struct StateRoutesTests {
  @Test func statusIsJSONOrText() throws {
    let service = try ScriptedService()
    let document = try service.ask("/status").object()
    #expect(document["status"] as? String == "reachable")
    #expect(document["since"] as? String == "2026-01-01T00:00:00.000000Z")
    let line = try service.ask("/status", ["Accept": "text/plain"])
    #expect(line.text == "reachable ethernetOrWiFi eth0 via 10.0.0.1\n")
    #expect(line.headers["Content-Type"] == "text/plain; charset=utf-8")
    #expect(line.headers["Vary"] == "Accept, Origin")
    #expect(line.headers["Cache-Control"] == "no-cache")
  }

  @Test func statusIsUnknownBeforeAndWithoutTheKernel() throws {
    let service = try ScriptedService(started: false)
    #expect(try service.ask("/status", ["Accept": "text/plain"]).text == "unknown starting\n")
    try service.monitor.start()
    service.kernel.fail(KernelError(operation: "recvmsg", errno: 5, message: "I/O error"))
    #expect(try service.ask("/status", ["Accept": "text/plain"]).text == "unknown kernelUnavailable\n")
    #expect(try service.ask("/status").object()["status"] as? String == "unknown")
  }

  /// RFC 9110 §13.2.1: a server ignores conditions where the response without them would not be 2xx; and a probe must not wait.
  @Test func requireReachableIgnoresConditionsAndWaits() throws {
    let service = try ScriptedService()
    let tag = try #require(try service.ask("/status").headers["ETag"])
    for isReachable in [true, false] {
      if !isReachable {
        service.kernel.change { $0.removeDefaults(.ipv4) }
        service.kernel.advance(by: .seconds(1))
      }
      for match in [tag, "*", "\"other\""] {
        for target in ["/status?require=reachable", "/status?require=reachable&wait=1m"] {
          let answer = try service.ask(target, ["If-None-Match": match, "Prefer": "wait=60"])
          #expect(answer.status == (isReachable ? 200 : 503))
          #expect(answer.headers["ETag"] == nil && answer.headers["Preference-Applied"] == nil)
        }
      }
    }
  }

  @Test func requireReachableAnswers503WithTheSameBody() throws {
    let service = try ScriptedService()
    #expect(try service.ask("/status?require=reachable").status == 200)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    let plain = try service.ask("/status")
    let required = try service.ask("/status?require=reachable")
    #expect(plain.status == 200)
    #expect(required.status == 503)
    #expect(required.text == plain.text)
    #expect(required.headers["Content-Type"] == "application/json")
    #expect(try service.ask("/status?require=reachable", ["Accept": "text/plain"]).text == "notReachable noRoute\n")
    #expect(try service.problem("/status?require=up") == "badRequest")
    #expect(try service.problem("/status?require=") == "badRequest")
  }

  @Test(arguments: [
    ("TAG", 304), ("*", 304), ("BARE", 304), ("\"other\", TAG", 304), ("W/\"x\" ,\tTAG ", 304), ("\"other\"", 200),
    ("W/\"\"", 200), ("", 200), ("TAGx", 200),
  ])
  func matchingTagAnswers304(list: String, status: Int) throws {
    let service = try ScriptedService()
    for target in ["/status", "/interfaces"] {
      let tag = try #require(try service.ask(target).headers["ETag"])
      #expect(tag.hasPrefix("W/\""))
      let sent = list.replacing("TAG", with: tag).replacing("BARE", with: tag.dropFirst(2))
      let answer = try service.ask(target, ["If-None-Match": sent])
      #expect(answer.status == status, "\(target) \(sent)")
      #expect(answer.headers["ETag"] == tag)
      if status == 304 {
        #expect(answer.bytes.isEmpty)
        #expect(answer.headers["Content-Type"] == nil)
      }
    }
  }

  @Test func eachResourceHasItsOwnTag() throws {
    let service = try ScriptedService()
    func tags() throws -> [String?] { try ["/status", "/interfaces"].map { try service.ask($0).headers["ETag"] } }
    let before = try tags()
    service.kernel.change { $0.addDefault(via: "10.0.0.2", on: 2, metric: 50) }
    let afterPath = try tags()
    #expect(afterPath[0] != before[0])
    #expect(afterPath[1] == before[1], "a gateway is not part of an interface")
    service.kernel.change { $0.addInterface(3, "eth1", addresses: ["10.1.0.5/24"]) }
    let afterInterface = try tags()
    #expect(afterInterface[0] != afterPath[0])
    #expect(afterInterface[1] != afterPath[1])
    service.kernel.change()
    #expect(try tags() == afterInterface, "nothing changed")
  }

  @Test func interfacesContainTypeStateAndLowerDevice() throws {
    let service = try ScriptedService()
    service.kernel.change { script in
      script.addInterface(3, "vlan5", addresses: ["10.5.0.5/24", "fd05::5/64"])
      script.change("vlan5") { $0.lowerIndex = 2 }
      script.change("eth0") { $0.mtu = 9000 }
    }
    let interfaces = try #require(try service.ask("/interfaces").object()["interfaces"] as? [[String: Any]])
    #expect(interfaces.map { $0["name"] as? String } == ["eth0", "lo", "vlan5"])
    #expect(interfaces[0]["mtu"] as? Int == 9000)
    #expect(interfaces[2]["lower"] as? String == "eth0")
    #expect(interfaces[2]["addresses"] as? [String] == ["10.5.0.5/24", "fd05::5/64"])
  }

  @Test func interfacesOfTheDefaultPathsAreFirst() throws {
    let service = try ScriptedService()
    func names() throws -> [String?] {
      let list = try #require(try service.ask("/interfaces").object()["interfaces"] as? [[String: Any]])
      return list.map { $0["name"] as? String }
    }
    service.kernel.change { script in
      script.addInterface(3, "eth1", addresses: ["10.1.0.5/24"])
      script.addInterface(4, "eth2", addresses: ["10.2.0.5/24", "2001:db8::5/64"])
    }
    #expect(try names() == ["eth0", "lo", "eth1", "eth2"])
    service.kernel.change { $0.addDefault(via: "2001:db8::1", on: 4) }
    #expect(try names() == ["eth0", "eth2", "lo", "eth1"])
    let tag = try service.ask("/interfaces").headers["ETag"]
    service.kernel.change { $0.addDefault(via: "10.1.0.1", on: 3, metric: 1) }
    #expect(try names() == ["eth1", "eth2", "lo", "eth0"])
    #expect(try service.ask("/interfaces").headers["ETag"] != tag, "the order is part of the representation")
    service.kernel.change { $0.addDefault(via: "10.2.0.1", on: 4, metric: 0) }
    #expect(try names() == ["eth2", "lo", "eth0", "eth1"], "one interface for both families")
  }

  @Test func expensiveAndConstrainedAreReportedEverywhere() throws {
    let service = try ScriptedService()
    func costs(_ document: [String: Any]) -> [Bool?] {
      [document["isExpensive"] as? Bool, document["isConstrained"] as? Bool]
    }
    #expect(costs(try service.ask("/status").object()) == [false, false])
    service.kernel.change { script in
      script.addInterface(4, "wwan0", .wwan, addresses: ["10.2.0.5/24"])
      script.addDefault(via: "10.2.0.1", on: 4, metric: 1)
      script.change("wwan0") { $0.isConstrained = true }
    }
    let status = try service.ask("/status").object()
    #expect(costs(status) == [true, true])
    for path in ["/status", "/interfaces"] {
      let interfaces = try #require(try service.ask(path).object()["interfaces"] as? [[String: Any]])
      let costly = interfaces.filter { costs($0) == [true, true] }
      #expect(costly.map { $0["name"] as? String } == ["wwan0"])
      #expect(interfaces.filter { costs($0) == [false, false] }.count == 2)
    }
    #expect(costs(try service.ask("/hosts/203.0.113.1").object()) == [true, true])
    #expect(costs(try service.ask("/hosts/10.0.0.9").object()) == [false, false])
  }

  @Test func interfacesAfterAMonitorRestartAreShown() throws {
    let service = try ScriptedService()
    service.monitor.stop()
    service.kernel.change { $0.addInterface(3, "eth1") }
    try service.monitor.start()
    let interfaces = try #require(try service.ask("/interfaces").object()["interfaces"] as? [[String: Any]])
    #expect(interfaces.count == 3)
  }

  @Test(arguments: [
    "quote\"back\\sl", "bell\u{7}\u{1}", "unit\u{1f}", "escape\u{1b}[31m", "del\u{7f}", "\u{2028}\u{2029}", "ümläut💡",
    String(decoding: [0x65, 0xff, 0xfe, 0x30], as: UTF8.self), "<script>", "{\"a\"}1",
  ])
  func interfaceNamesAreEscapedInJSON(name: String) throws {
    let service = try ScriptedService()
    service.kernel.change { script in
      script.addInterface(3, name, addresses: ["10.1.0.5/24"])
      script.addDefault(via: "10.1.0.1", on: 3, metric: 1)
    }
    let status = try service.ask("/status").object()
    #expect((status["ipv4"] as? [String: Any])?["interface"] as? String == name)
    let interfaces = try #require(try service.ask("/interfaces").object()["interfaces"] as? [[String: Any]])
    #expect(interfaces.first?["name"] as? String == name)
    let bytes = try service.ask("/interfaces").bytes
    #expect(bytes.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    let stream = try service.ask("/events?lastEventId=\(try service.ask("/status").object()["id"] ?? "")").text
    for frame in Frame.parse(stream + (try service.ask("/events").text)) { #expect(frame.data?.isEmpty == false) }
  }

  @Test func interfaceNamesAreEscapedInText() throws {
    let service = try ScriptedService()
    service.kernel.change { script in
      script.addInterface(3, "x\u{1b}[2J\u{7f}up", addresses: ["10.1.0.5/24"])
      script.addDefault(via: "10.1.0.1", on: 3, metric: 1)
    }
    let line = try service.ask("/status", ["Accept": "text/plain"]).bytes
    #expect(line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7f })
  }
}
