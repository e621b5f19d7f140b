import EmbeddedHTTPServer
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import StatusAPI

@Suite struct HostRoutesTests {
  @Test(arguments: [
    ("10.0.0.9", "address", "reachable ethernetOrWiFi eth0"), ("10.0.0.5", "address", "reachable ethernetOrWiFi eth0"),
    ("192.0.2.1", "address", "reachable ethernetOrWiFi eth0 via 10.0.0.1"),
    ("2001:db8::1", "address", "notReachable noRoute"), ("127.0.0.1", "address", "reachable ethernetOrWiFi lo"),
    ("default", "default", "reachable ethernetOrWiFi eth0 via 10.0.0.1"), ("0.0.0.0", "default", ""),
    ("::", "default", ""), ("local-link", "localLink", "reachable ethernetOrWiFi eth0"),
    ("169.254.0.0", "localLink", ""), ("::ffff:10.0.0.9", "address", "reachable ethernetOrWiFi eth0"),
    ("db.internal?resolve=none", "name", "reachable ethernetOrWiFi eth0 via 10.0.0.1"),
    ("10.0.0.9?source=10.0.0.5", "pair", "reachable ethernetOrWiFi eth0"),
    ("10.0.0.9?source=10.0.0.77", "pair", "notReachable noSource"),
    ("10.0.0.9?interface=eth0", "address", "reachable ethernetOrWiFi eth0"),
    ("10.0.0.9?interface=eth9", "address", "notReachable unknownInterface"),
  ])
  func hostIsEvaluatedImmediately(host: String, kind: String, line: String) throws {
    let service = try ScriptedService()
    let document = try service.ask("/hosts/\(host)").object()
    #expect(document["kind"] as? String == kind)
    #expect(document["host"] as? String == host.split(separator: "?").first.map(String.init))
    let text = try service.ask("/hosts/\(host)", ["Accept": "text/plain"]).text
    if !line.isEmpty { #expect(text == line + "\n") }
  }

  @Test(arguments: [
    ("fe80::1%25eth0", "fe80::1", "eth0"), ("%5Bfe80::1%25eth0%5D", "fe80::1", "eth0"),
    ("[fe80::1%25eth0]", "fe80::1", "eth0"), ("[2001:db8::1]", "2001:db8::1", nil),
    ("%5b2001:db8::1%5d", "2001:db8::1", nil), ("2001%3Adb8%3A%3A1", "2001:db8::1", nil),
    ("%31%30.0.0.9", "10.0.0.9", nil), ("fe80::1?interface=eth0", "fe80::1", "eth0"),
    ("fe80::1%25eth0?interface=eth0", "fe80::1", "eth0"),
  ])
  func percentEncodingBracketsAndZonesAreParsed(path: String, address: String, interface: String?) throws {
    let document = try ScriptedService().ask("/hosts/\(path)").object()
    let addresses = document["addresses"] as? [[String: Any]]
    #expect(document["kind"] as? String == "address")
    #expect(document["interface"] as? String == interface)
    if interface == nil { #expect(addresses?.map { $0["address"] as? String } == [address]) }
  }

  @Test(arguments: ["%", "%2", "%zz", "a%", "%00", "a%00b", "%ff", "%c3%28", "%u0061"])
  func invalidPercentEncodingIsRejected(path: String) throws {
    #expect(try ScriptedService().problem("/hosts/\(path)") == "badRequest")
  }

  @Test(arguments: [
    ("http:%2F%2Fexample.com%2F", "without scheme"), ("https:%2F%2Fexample.com", "without scheme"),
    ("db.internal:5432", "without a port"), ("10.0.0.9:80", "without a port"), ("[::1]:80", "address alone"),
    ("[::1", "address alone"), ("", "give a name"), ("a%2Fb", "host alone"), ("fe80::1", "%eth0"),
    ("ff02::1", "%eth0"), ("1.2.3", "four numbers"), ("256.1.1.1", "four numbers"), ("010.0.0.1.", "four numbers"),
    ("a..b", "each part"), (".", "1 to 253"), (String(repeating: "a", count: 64), "1 to 63"),
    (String(repeating: "a.", count: 127) + "a", "1 to 253"), ("b%C3%BCcher.example", "xn--"), ("a%20b", "xn--"),
    ("a%0D%0Ab", "xn--"), ("db%25eth0", "xn--"), ("fe80::1%25", "127 bytes"), ("fe80::1%25a%2Fb", "127 bytes"),
    ("fe80::1%25eth0?interface=eth1", "one of them"), ("10.0.0.9?source=::1", "both"),
    ("10.0.0.9?source=me", "address of this machine"), ("10.0.0.9?interface=", "127 bytes"),
    ("10.0.0.9?interface=" + String(repeating: "a", count: 128), "127 bytes"), ("2001:db8::1::2", "port"),
  ])
  func invalidHostIsRejectedWithAHint(path: String, hint: String) throws {
    let response = try ScriptedService().ask("/hosts/\(path)")
    #expect(response.status == 400)
    let problem = try response.object()
    #expect(problem["code"] as? String == "badHost")
    let detail = try #require(problem["detail"] as? String)
    #expect(detail.contains(hint), "\(detail)")
  }

  @Test(arguments: [
    "resolve=maybe", "resolve=", "timeout=5", "timeout=0s", "timeout=61s", "timeout=-1s", "timeout=2m", "timeout=",
    "timeout=1.5s", "timeout=1h", "timeout=5%20s", "resolve=WAIT",
  ])
  func invalidParametersAreRejected(query: String) throws {
    let service = try ScriptedService()
    #expect(try service.problem("/hosts/default?\(query)") == "badRequest")
    let detail = try service.ask("/hosts/default?\(query)").object()["detail"] as? String
    #expect(detail?.hasPrefix(query.split(separator: "=").first ?? "") == true, "it names the parameter")
  }

  @Test func hostVerdictIsNotDebounced() throws {
    let service = try ScriptedService()
    func line(_ host: String) throws -> String {
      try service.ask("/hosts/\(host)", ["Accept": "text/plain"]).text
    }
    service.kernel.change { $0.dropCarrier("eth0") }
    #expect(try line("10.0.0.9") == "notReachable linkDown eth0\n")
    #expect(try line("local-link") == "notReachable linkDown eth0\n")
    #expect(try service.ask("/status", ["Accept": "text/plain"]).text.hasPrefix("reachable "), "still settling")
  }

  @Test func hostsFileNameIsResolved() throws {
    let document = try ScriptedService(nameServers: ["127.0.0.1:1"]).ask("/hosts/localhost").object()
    #expect(document["phase"] as? String == "resolved")
    let addresses = try #require(document["addresses"] as? [[String: Any]])
    #expect(addresses.contains { $0["address"] as? String == "127.0.0.1" })
    #expect(document["status"] as? String == "reachable")
    #expect((document["flags"] as? [String])?.contains("isLocalAddress") == true)
  }

  @Test func omittedAddressesAreCounted() throws {
    let server = try DNSServer { _, type in
      .truncated(type == DNSMessage.a ? (0..<100).map { [10, 0, 0, $0] } : [])
    }
    defer { server.stop() }
    let service = try ScriptedService(nameServers: [server.address])
    let document = try service.ask("/hosts/many.test").object()
    #expect((document["addresses"] as? [Any])?.count == 64)
    #expect(document["addressesOmitted"] as? Int == 36)
    #expect(try service.ask("/hosts/10.0.0.9").object()["addressesOmitted"] == nil)
  }

  @Test func unresolvedNameIsEvaluatedOptimistically() throws {
    // No server listens on port 1 of the loopback address: refused immediately, or silence until the deadline.
    let service = try ScriptedService(nameServers: ["127.0.0.1:1"])
    let document = try service.ask("/hosts/db.internal?timeout=300ms").object()
    #expect(document["phase"] as? String == "optimistic")
    #expect(document["status"] as? String == "reachable")
    #expect(["dnsTimeout", "dnsServerFailure"].contains(document["reason"] as? String))
    #expect((document["addresses"] as? [Any])?.isEmpty == true)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    let lost = try service.ask("/hosts/db.internal?timeout=300ms").object()
    #expect(lost["status"] as? String == "notReachable")
    #expect(lost["reason"] as? String == "noRoute", "the way out is the better explanation")
  }

  @Test(arguments: [("127.0.0.1:1", "127.0.0.1:2", "127.0.0.2:1"), ("[fd00::1]:1", "[fd00::1]:2", "[fd00:0:0:1::2]:1")])
  func resolutionsAboveTheRateAnswer429(first: String, same: String, other: String) throws {
    let service = try ScriptedService(nameServers: ["127.0.0.1:1"])
    var answer = try service.ask("/hosts/localhost", peer: first)
    for _ in 0..<200 where answer.status == 200 { answer = try service.ask("/hosts/localhost", peer: same) }
    #expect(answer.status == 429)
    #expect(answer.headers["Retry-After"] == "1")
    #expect(try answer.object()["code"] as? String == "rateLimited")
    #expect(try service.ask("/hosts/localhost?resolve=none", peer: first).status == 200)
    #expect(try service.ask("/hosts/10.0.0.9", peer: first).status == 200)
    #expect(try service.ask("/hosts/localhost", peer: other).status == 200, "another client")
  }

  @Test func everyNameOfAStreamCounts() throws {
    let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]], timeToLive: 1) }
    defer { server.stop() }
    let service = try ScriptedService(nameServers: [server.address])
    // Twenty streams of 64 names each would cause 2,560 queries.
    let answers = try (0..<20).map { stream in
      let hosts = (0..<64).map { "host=h\($0).s\(stream).test." }.joined(separator: "&")
      return try service.ask("/events?\(hosts)", peer: "192.0.2.1:1")
    }
    #expect(answers[0].status == 200 && answers.last?.status == 429)
    #expect(answers.last?.headers["Retry-After"].flatMap { Int($0) }.map { (1...7).contains($0) } == true)
    let served = answers.count { $0.status == 200 }
    #expect(eventually { server.total >= 2 * 64 * served })
    #expect(served <= 2 && server.total <= 2 * 64 * served, "\(served) streams, \(server.total) queries")
    // Names that are watched already cause no lookup.
    let same = (0..<64).map { "host=h\($0).s0.test." }.joined(separator: "&")
    for _ in 0..<3 { #expect(try service.ask("/events?\(same)", peer: "192.0.2.1:1").status == 200) }
    withExtendedLifetime(answers) {}
  }

  @Test func watchedNamesOfAClientAreLimited() throws {
    let service = try ScriptedService(nameServers: ["127.0.0.1:1"])
    let quota = service.service.hostNames
    let lease = quota.watch(Set((0..<HostNameQuota.watchesOfClient).map { "n\($0)" }), client: "192.0.2.1")
    let refused = try service.ask("/events?host=db.test.", peer: "192.0.2.1:1")
    #expect(refused.status == 429 && refused.headers["Retry-After"] == "10")
    let waiting = try service.ask("/hosts/db.test.?wait=1m", ["If-None-Match": "*"], peer: "192.0.2.1:1")
    #expect(waiting.status == 429 && waiting.headers["Retry-After"] == "10")
    #expect(try service.ask("/events?host=10.0.0.1", peer: "192.0.2.1:1").status == 200, "an address is not looked up")
    #expect(try service.ask("/events?host=db.test.", peer: "192.0.2.2:1").status == 200)
    withExtendedLifetime(lease) {}
  }

  @Test func kernelFailureIsUnknownAsInStatusAndWithoutDetails() throws {
    let service = try ScriptedService(started: false)
    service.kernel.refuseStart(KernelError(operation: "socket", errno: 1, message: "Operation not permitted"))
    let response = try service.ask("/hosts/10.0.0.9", ["X-Request-Id": "r7"])
    #expect(response.status == 200)
    let document = try response.object()
    #expect(document["status"] as? String == "unknown" && document["reason"] as? String == "kernelUnavailable")
    #expect(document["isReachable"] as? Bool == false)
    #expect(!response.text.contains("permitted"))
    #expect(try service.ask("/hosts/localhost", ["Accept": "text/plain"]).text == "unknown kernelUnavailable\n")
    #expect(try service.ask("/hosts/localhost", ["X-Request-Id": "r8"]).headers["X-Request-Id"] == "r8")
  }
}
