import TestSupport
import Testing

/// `/hosts` against what `ip route get` says in the same namespace.
@Suite(.needsNamespaces) struct HostVerdictTests {
  let pair: VethPair
  let daemon: DaemonUnderTest

  /// One question.
  struct Question: Sendable, CustomTestStringConvertible {
    var host: String
    var source: String?
    var interface: String?

    init(_ host: String, from source: String? = nil, on interface: String? = nil) {
      self.host = host
      self.source = source
      self.interface = interface
    }

    var testDescription: String { words.joined(separator: " ") }
    /// The words of `ip route get`.
    var words: [String] {
      [host] + (source.map { ["from", $0] } ?? []) + (interface.map { ["oif", $0] } ?? [])
    }
    /// The target of the request.
    var path: String {
      let parameters = [source.map { "source=\($0)" }, interface.map { "interface=\($0)" }].compactMap(\.self)
      return "/hosts/\(host)" + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }
  }

  init() throws {
    pair = try VethPair()
    try pair.addSecondInterface()
    try pair.addDefaultRoutes()
    try pair.client.ip(batch: [
      "addr add fd08::2/64 dev d0 nodad", "addr add 10.9.0.3/24 dev c0",
      "route add blackhole 198.51.100.0/26", "route add unreachable 198.51.100.64/26",
      "route add prohibit 198.51.100.128/26", "route add throw 198.51.100.192/26",
      "route add blackhole 2001:db8:1::/48", "route add unreachable 2001:db8:2::/48",
      "route add prohibit 2001:db8:3::/48", "route add 203.0.113.0/24 via 10.8.0.1 dev d0 src 10.9.0.3",
      "route add 203.0.114.0/24 via inet6 fd09::1 dev c0", "route add 203.0.113.128/25 via 10.9.0.1 dev c0 table 100",
      "rule add from 10.9.0.3 lookup 100", "route add local 198.18.0.0/24 dev lo",
    ])
    daemon = try DaemonUnderTest(in: pair.client)
  }

  /// All in one test, because a machine with a program on it costs more than a question.
  @Test func verdictsMatchTheKernel() throws {
    for question in [
      Question("10.9.0.1"), Question("10.9.0.77"), Question("10.8.0.9"), Question("192.0.2.1"), Question("8.8.8.8"),
      Question("fd09::1"), Question("fd08::77"), Question("2001:db8::1"),
      Question("198.51.100.1"), Question("198.51.100.65"), Question("198.51.100.129"), Question("2001:db8:1::1"),
      Question("2001:db8:2::1"), Question("2001:db8:3::1"),
      Question("203.0.113.1"), Question("203.0.113.200"), Question("203.0.114.1"),
      Question("203.0.113.200", from: "10.9.0.3"), Question("203.0.113.200", from: "10.9.0.2"),
      Question("192.0.2.1", from: "10.8.0.2"), Question("2001:db8::1", from: "fd08::2"),
      Question("192.0.2.1", on: "c0"), Question("2001:db8::1", on: "c0"), Question("10.8.0.9", on: "d0"),
      Question("203.0.113.200", from: "10.9.0.3", on: "c0"), Question("192.0.2.1", from: "203.0.113.9"),
      Question("192.0.2.1", from: "198.18.0.7"),
    ] { try compare(question) }
  }

  private func compare(_ question: Question) throws {
    let answer = try daemon.get(question.path).json
    let truth = try kernel(question)
    let verdict = answer["addresses"]?[0]
    let route = verdict?["route"]
    #expect(answer["isReachable"] == .bool(truth.reason == nil), "\(question.words): \(answer)")
    #expect(answer["reason"]?.text == truth.reason, "\(question.words): \(answer)")
    guard truth.reason == nil else { return }
    #expect(route?["interface"]?.text == truth.interface, "\(question.words): \(answer)")
    #expect(route?["gateway"]?.text == truth.gateway, "\(question.words): \(answer)")
    #expect(route?["source"]?.text == truth.source, "\(question.words): \(answer)")
    #expect(answer["flags"]?.texts == (truth.gateway == nil ? ["reachable", "isDirect"] : ["reachable"]))
  }

  private struct Truth {
    var reason: String?
    var interface: String?
    var gateway: String?
    var source: String?
  }

  private func kernel(_ question: Question) throws -> Truth {
    let words = ["-json", "route", "get"] + question.words
    let child = try pair.client.spawn("/sbin/ip", words)
    guard try child.wait() == .exited(0) else {
      let reasons = [
        "Network is unreachable": "noRoute", "No route to host": "unreachableRoute", "Invalid argument": "blackhole",
        "Permission denied": "prohibited",
      ]
      // A source that is not ours has its own reason; the kernel says no more than that there is no route.
      if question.source == "203.0.113.9" { return Truth(reason: "noSource") }
      return Truth(reason: reasons.first { child.errors.contains($0.key) }?.value ?? child.errors)
    }
    let route = try JSONValue(child.output)[0]
    // A connection looks twice in IPv4: once for its source, and once with it.
    if let source = route?["prefsrc"]?.text, question.source == nil, source.contains(".") {
      var asked = question
      asked.source = source
      return try kernel(asked)
    }
    return Truth(
      interface: route?["dev"]?.text, gateway: (route?["gateway"] ?? route?["via"]?["host"])?.text,
      source: question.source ?? route?["prefsrc"]?.text)
  }

  @Test func localAndMulticastAddresses() throws {
    for (host, flags, interface, type) in [
      ("10.9.0.2", ["reachable", "isLocalAddress", "isDirect"], "c0", "local"),
      ("fd09::2", ["reachable", "isLocalAddress", "isDirect"], "c0", "local"),
      ("127.0.0.1", ["reachable", "isLocalAddress"], "lo", "local"),
      ("::1", ["reachable", "isLocalAddress"], "lo", "local"),
      ("::ffff:10.9.0.2", ["reachable", "isLocalAddress", "isDirect"], "c0", "local"),
      ("10.9.0.255", [], "c0", "broadcast"),
      ("ff02::1%25c0", [], "c0", "multicast"),
      ("fe80::1%25d0", ["reachable", "isDirect"], "d0", "unicast"),
    ] {
      let answer = try daemon.get("/hosts/\(host)").json
      #expect(answer["flags"]?.texts == flags, "\(host): \(answer)")
      let route = answer["addresses"]?[0]?["route"]
      #expect(route?["interface"]?.text == interface && route?["type"]?.text == type, "\(host): \(answer)")
    }
  }

  /// The promise is about connections: each verdict is compared with connect(2) of a TCP socket.
  @Test func verdictsMatchConnections() throws {
    try pair.client.ip(batch: [
      "route del ::/0 via fd09::1 dev c0 metric 100", "route add ::/0 from fd09::/64 via fd09::1 dev c0",
      "link add e0 type veth peer name e1", "addr add 10.7.0.2/24 dev e0",
    ])
    try pair.client.ip("-6 rule add from fd09::/64 to 2001:db8:4::/48 prohibit")
    for question in [
      Question("10.9.0.255"), Question("255.255.255.255"), Question("224.0.0.251"), Question("ff05::2"),
      Question("2001:db8::1"), Question("2001:db8::1", on: "c0"), Question("2001:db8::1", on: "d0"),
      Question("192.0.2.1", on: "d0"), Question("198.51.100.1", on: "d0"), Question("198.51.100.129", on: "c0"),
      Question("2001:db8::1", from: "fd09::2", on: "c0"), Question("2001:db8:4::1"),
      Question("2001:db8:4::1", from: "fd09::2", on: "c0"), Question("192.0.2.1", from: "10.7.0.2"),
      Question("192.0.2.1", from: "10.7.0.2", on: "c0"),
    ] {
      let attempt = try pair.client.connect(to: question.host, from: question.source, interface: question.interface)
      let answer = try daemon.get(question.path).json
      #expect(answer["isReachable"] == .bool(attempt.isPossible), "\(question.words): \(attempt), \(answer)")
      if attempt == .refused(13) { #expect(answer["reason"] == "prohibited", "\(question.words): \(answer)") }
      guard case .source(let source) = attempt else { continue }
      #expect(answer["addresses"]?[0]?["route"]?["source"]?.text == source, "\(question.words): \(answer)")
    }
  }

  @Test func boundTargetUsesItsInterfaceOnly() throws {
    for (path, reason) in [
      ("2001:db8::1?interface=d0", "noRoute"),
      ("192.0.2.1?interface=nic9", "unknownInterface"), ("2001:db8::1?source=fd0f::1", "noSource"),
      ("127.0.0.1?interface=c0", "noRoute"), ("::1?interface=c0", "noRoute"),
      ("default?interface=d0", "noRoute"), ("default?source=fd0f::1", "noSource"),
    ] {
      let answer = try daemon.get("/hosts/\(path)").json
      #expect(answer["status"] == "notReachable" && answer["reason"]?.text == reason, "\(path): \(answer)")
    }
    let index = try pair.client.index(of: "d0")
    #expect(try daemon.get("/hosts/fe80::1%25\(index)").json["addresses"]?[0]?["route"]?["interface"] == "d0")
    #expect(try daemon.get("/hosts/fe80::1%2599").json["reason"] == "unknownInterface")
    for path in [
      "192.0.2.1?interface=d0", "127.0.0.1?interface=lo", "default", "default?interface=c0", "local-link",
      "local-link?interface=d0", "0.0.0.0",
      "169.254.0.0",
    ] {
      #expect(try daemon.get("/hosts/\(path)").json["isReachable"] == true, "\(path)")
    }
  }

  @Test func interfacesHaveAlternativeNames() throws {
    let long = "enx-a-name-that-is-longer-than-fifteen-bytes"
    for name in ["wan", long] {
      try pair.client.ip("link property add dev d0 altname \(name)")
      for path in ["10.8.0.9?interface=\(name)", "fe80::1%25\(name)"] {
        let answer = try daemon.get("/hosts/\(path)").json
        #expect(answer["addresses"]?[0]?["route"]?["interface"] == "d0", "\(answer)")
      }
      // A socket cannot be bound to the name.
      let check = try daemon.get("/check?target=icmp://10.8.0.2&interface=\(name)&timeout=300ms").json
      #expect(check["reason"] != "unknownInterface", "\(check)")
      let tcp = try daemon.get("/check?target=tcp://10.8.0.9:9&interface=\(name)&timeout=300ms").json
      #expect(tcp["state"] == "down", "\(tcp)")
    }
    #expect(try daemon.get("/hosts/10.8.0.9?interface=wan2").json["reason"] == "unknownInterface")
  }

  @Test func verdictReflectsTheCurrentKernelState() throws {
    // No wait for any event in between: the question itself waits for what the kernel has begun.
    for _ in 1...20 {
      try pair.client.ip("link set c0 down")
      let without = try daemon.get("/hosts/192.0.2.1").json
      #expect(without["isReachable"] == false && without["reason"] == "noRoute")
      try pair.client.ip(batch: ["link set c0 up", "route add default via 10.9.0.1 dev c0 metric 100"])
      let daemon = daemon
      #expect(try eventually { try daemon.get("/hosts/192.0.2.1").json["isReachable"] == true })
    }
  }
}
