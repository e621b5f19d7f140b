import Glibc
import TestSupport
import Testing

/// Requests that wait for the kernel's next change: real clients, a real cable.
@Suite(.needsNamespaces) struct LongPollLoadTests {
  let pair: VethPair
  let daemon: DaemonUnderTest

  init() throws {
    pair = try VethPair()
    try pair.waitForLinkLocal()
    try pair.addDefaultRoutes()
    daemon = try DaemonUnderTest(in: pair.client)
  }

  private func tag(_ target: String) throws -> String {
    try #require(try daemon.get(target).head.fields["etag"])
  }

  private func park(_ target: String, _ fields: [String: String]) throws -> HTTPConnection {
    let connection = try HTTPConnection(port: daemon.port, in: pair.client)
    try connection.get(target, fields)
    return connection
  }

  private func number(_ series: String) throws -> Int {
    let lines = try daemon.get("/metrics").text.split(separator: "\n")
    return try #require(lines.first { $0.hasPrefix(series) }?.split(separator: " ").last.flatMap { Int($0) })
  }

  private var threads: Int {
    get throws {
      let status = try pair.client.run("/bin/cat", ["/proc/\(daemon.child.id)/status"])
      return try #require(
        status.split(separator: "\n").first { $0.hasPrefix("Threads:") }?.split(separator: "\t").last.flatMap {
          Int($0)
        })
    }
  }

  @Test func twoThousandWaitsAreAnsweredAndDisconnectsReleased() throws {
    // Two descriptors a client: its own, and the daemon's in its own process.
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(resource, &limit)
    try #require(limit.rlim_max >= 4096, "too few descriptors for this test")

    let before = try threads
    let status = try tag("/status")
    let host = try tag("/hosts/192.0.2.1")
    var clients: [HTTPConnection] = []
    for number in 0..<2000 {
      let (target, tag) = number.isMultiple(of: 10) ? ("/hosts/192.0.2.1", host) : ("/status", status)
      clients.append(try park(target + "?wait=5m", ["If-None-Match": tag, "X-Request-Id": "n\(number)"]))
    }
    #expect(try eventually { try number("reachd_http_waiting_requests") == 2000 })
    #expect(try eventually { try number("reachd_watched_hosts") == 1 })
    // The cooperative pool may have begun meanwhile, a thread a processor.
    #expect(try threads <= before + 4)
    clients.removeLast(500)
    #expect(try eventually { try number("reachd_http_waiting_requests") == 1500 })

    try pair.router.ip("link set r0 down")
    let answers = try clients.map { try $0.answer() }
    #expect(answers.allSatisfy { $0.status == 200 })
    // What each tells is the state of its moment: the carrier goes before the verdict, which may settle first.
    #expect(try answers.allSatisfy { try $0.json["isReachable"] != nil })
    #expect(Set(answers.compactMap { $0.head.fields["etag"] }).isDisjoint(with: [status, host]))
    #expect(Set(answers.compactMap { $0.head.fields["x-request-id"] }).count == 1500)
    #expect(try eventually { try number("reachd_http_waiting_requests") == 0 })
    #expect(try eventually { try number("reachd_watched_hosts") == 0 })
    // The connections go on.
    try clients[0].get("/livez")
    #expect(try clients[0].answer().text == "ok\n")
  }

  @Test func waitEndsAtItsTimeout() throws {
    let tag = try tag("/status")
    let client = try park("/status?wait=100ms", ["If-None-Match": tag])
    let answer = try client.answer()
    #expect(answer.status == 304 && answer.body.isEmpty && answer.head.fields["etag"] == tag)
    let preferred = try park("/interfaces", ["If-None-Match": try self.tag("/interfaces"), "Prefer": "wait=1"])
    let other = try preferred.answer()
    #expect(other.status == 304 && other.head.fields["preference-applied"] == "wait=1")
  }

  @Test func stoppingServiceAnswersAllWaits() throws {
    let client = try park("/status?wait=10m", ["If-None-Match": try tag("/status")])
    #expect(try eventually { try number("reachd_http_waiting_requests") == 1 })
    daemon.child.kill(SIGTERM)
    #expect(try client.answer().status == 304)
    #expect(try daemon.child.wait() == .exited(0))
  }
}
