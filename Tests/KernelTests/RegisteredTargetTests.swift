import CNetlink
import Foundation
import Glibc
import Locks
import TestSupport
import Testing

/// Registered targets of the real program, behind a real cable.
@Suite(.needsNamespaces) struct RegisteredTargetTests {
  /// A port behind which connections are taken and closed.
  final class OpenPort: Sendable {
    let number: UInt16
    private let descriptor: Int32

    init(in namespace: Namespace) throws {
      descriptor = namespace.run { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
      guard listen(descriptor, 4096) == 0 else { throw TestError("listen: \(errno)") }
      number = Self.number(of: descriptor)
      let descriptor = descriptor
      Thread.detachNewThread {
        while true {
          let client = accept(descriptor, nil, nil)
          guard client >= 0 else { break }
          close(client)
        }
        close(descriptor)
      }
    }

    static func number(of descriptor: Int32) -> UInt16 {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
      }
      return UInt16(bigEndian: address.sin_port)
    }

    // Its thread wakes up and closes it.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// Reads events until each of these targets is in its state; fails on a state that none of them may have.
  private func wait(
    _ events: EventReader, until wanted: [String: String], never: String? = nil
  ) throws {
    var missing = wanted
    while !missing.isEmpty {
      let event = try #require(try events.next())
      guard event.name == "target", let id = event.data["target"]?["id"]?.text, let to = event.data["to"]?.text else {
        continue
      }
      if let never { #expect(to != never, "\(event)") }
      if missing[id] == to { missing[id] = nil }
    }
  }

  private func waitUntilUp(_ count: Int, _ daemon: DaemonUnderTest) throws {
    let isUp = eventually {
      (try? daemon.get("/metrics").text.contains("reachd_targets{state=\"up\"} \(count)\n")) == true
    }
    guard isUp else { throw TestError("not all are up: \(try daemon.get("/metrics").text)") }
  }

  private func configuration(_ count: Int, _ port: UInt16, _ more: String) -> String {
    "targets:\n"
      + (0..<count).map { "  - {id: t\($0), target: \"tcp://10.9.0.1:\(port)\", \(more)}\n" }.joined()
  }

  @Test("Carrier loss makes targets unreachable, recovery needs one check")
  func cable() throws {
    let pair = try VethPair()
    let port = try OpenPort(in: pair.router)
    // The interval is beyond the test: only the cable can be the cause.
    let daemon = try DaemonUnderTest(
      in: pair.client,
      configuration: configuration(1000, port.number, "interval: 1h, timeout: 2s")
        + "  - {id: shut, target: \"tcp://10.9.0.1:1\", interval: 1h}\n")
    let up = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("t\($0)", "up") })
    try waitUntilUp(1000, daemon)
    let shut = try daemon.get("/targets/shut").json
    #expect(shut["state"]?.text == "down" && shut["reason"]?.text == "refused")
    let events = try daemon.events("?types=target")
    try pair.router.ip("link set r0 down")
    try wait(
      events, until: up.mapValues { _ in "unreachable" }.merging(["shut": "unreachable"]) { $1 }, never: "down")
    #expect(try daemon.get("/targets/t0").json["reason"]?.text == "linkDown")
    try pair.router.ip("link set r0 up")
    try wait(events, until: up.merging(["shut": "down"]) { $1 })
    // Each once at the start, and once when the cable was back; a machine that starves us has a few made again.
    let checks = try daemon.get("/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix("reachd_checks_total{module=\"tcp_connect\",state=\"up\"} ") }
    let count = try #require(checks?.split(separator: " ").last.flatMap { Int($0) })
    #expect((2000..<2500).contains(count))
  }

  /// An HTTP server that leaves its first client without a response.
  private final class LateServer: Sendable {
    let number: UInt16
    private let descriptor: Int32
    private let clients = Locked(0)
    var clientCount: Int { clients.withLock(\.self) }

    init(in namespace: Namespace) throws {
      descriptor = namespace.run { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
      guard listen(descriptor, 16) == 0 else { throw TestError("listen: \(errno)") }
      number = OpenPort.number(of: descriptor)
      Thread.detachNewThread { [self] in
        while true {
          let client = accept(descriptor, nil, nil)
          guard client >= 0 else { return }
          if clients.withLock({ count in
            count += 1
            return count == 1
          }) {
            continue
          }
          let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
          _ = unsafe response.utf8.withContiguousStorageIfAvailable { unsafe send(client, $0.baseAddress, $0.count, 0) }
        }
      }
    }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  @Test("A check that was in progress when the link was lost does not delay the return to up")
  func checkInProgress() throws {
    let pair = try VethPair()
    let server = try LateServer(in: pair.router)
    defer { server.stop() }
    // The timeout and the interval are beyond the test.
    let daemon = try DaemonUnderTest(
      in: pair.client,
      configuration:
        "targets:\n  - {id: late, target: \"http://10.9.0.1:\(server.number)/\", interval: 1h, timeout: 1m}\n")
    #expect(eventually { server.clientCount == 1 })
    let events = try daemon.events("?types=target")
    try pair.router.ip("link set r0 down")
    try wait(events, until: ["late": "unreachable"])
    try pair.router.ip("link set r0 up")
    try wait(events, until: ["late": "up"], never: "down")
  }

  @Test("A route change triggers checks of affected targets only")
  func route() throws {
    let pair = try VethPair()
    let port = try OpenPort(in: pair.router)
    try pair.router.ip("addr add 10.50.0.1/32 dev lo")
    try pair.client.ip("route add 10.50.0.0/24 via 10.9.0.1 dev c0")
    let daemon = try DaemonUnderTest(
      in: pair.client,
      configuration: configuration(1, port.number, "interval: 1h")
        + "  - {id: far, target: \"tcp://10.50.0.1:\(port.number)\", interval: 1h, timeout: 500ms, fall: 1, rise: 1}\n")
    try waitUntilUp(2, daemon)
    let near = try daemon.get("/targets/t0").json["lastCheck"]?["checkedAt"]?.text
    let events = try daemon.events("?types=target")
    // A more specific route without a host: the kernel has a route, the check gets no response.
    try pair.client.ip("route add 10.50.0.1/32 via 10.9.0.9 dev c0")
    try wait(events, until: ["far": "down"])
    try pair.client.ip("route del 10.50.0.1/32 via 10.9.0.9 dev c0")
    try wait(events, until: ["far": "up"])
    try pair.client.ip("route add blackhole 10.50.0.1/32")
    try wait(events, until: ["far": "unreachable"], never: "down")
    #expect(try daemon.get("/targets/far").json["reason"]?.text == "blackhole")
    #expect(try daemon.get("/targets/t0").json["lastCheck"]?["checkedAt"]?.text == near)
  }

  @Test("The policy denies callers addresses delivered by a local route")
  func anyIP() throws {
    let pair = try VethPair()
    let port = try OpenPort(in: pair.client)
    // As cloud agents do it: no interface has the address.
    try pair.client.ip("route add local 10.77.0.0/16 dev lo")
    let daemon = try DaemonUnderTest(
      in: pair.client,
      configuration: "targets:\n  - {id: ours, target: \"tcp://10.77.0.5:\(port.number)\", interval: 1h}\n")
    try waitUntilUp(1, daemon)
    let denied = try daemon.get("/check?target=tcp://10.77.0.5:\(port.number)").json
    #expect(denied["code"]?.text == "policyDenied", "\(denied)")
    let far = try daemon.get("/check?target=tcp://10.9.0.1:1").json
    #expect(far["reason"]?.text == "refused", "\(far)")
  }

  @Test("A process stop of five seconds marks no target down")
  func stopped() throws {
    let pair = try VethPair()
    let port = try OpenPort(in: pair.router)
    let daemon = try DaemonUnderTest(
      in: pair.client,
      configuration: configuration(100, port.number, "interval: 500ms, timeout: 100ms, fall: 1"))
    try waitUntilUp(100, daemon)
    let events = try daemon.events("?types=target")
    daemon.child.kill(SIGSTOP)
    pause(.seconds(5), because: "ten checks of each target are due meanwhile")
    daemon.child.kill(SIGCONT)
    pause(.seconds(2), because: "checks that the stop has delayed would fail meanwhile")
    let list = try daemon.get("/targets?limit=1000").json["targets"]?.elements ?? []
    #expect(list.count == 100 && list.allSatisfy { $0["state"]?.text == "up" })
    // Nothing was told either: the next event is the first one that the cable makes.
    try pair.router.ip("link set r0 down")
    let event = try #require(
      try { () throws(TestError) in
        while let event = try events.next() { if event.name == "target" { return event } }
        return nil
      }())
    #expect(event.data["to"]?.text == "unreachable", "\(event)")
  }
}
