import Glibc
import TestSupport
import Testing

/// More route events than anybody's buffer holds.
@Suite(.needsNamespaces) struct EventFloodTests {
  /// Routes that are added, and all but each thousandth of which are deleted again.
  static let routes = 10_000

  private func address(_ number: Int) -> String { "100.64.\(number / 250).\(number % 250 + 1)" }

  /// With `isStopped`, the program sleeps through the flood, and its buffer, which is small without privileges, runs over.
  ///
  /// The step after the flood then comes while the program still reads what the buffer holds, a time in which the
  /// kernel drops every event without a further word.
  @Test(arguments: [false, true]) func verdictsAreCorrectAfterAnEventFlood(isStopped: Bool) throws {
    let privileges: DaemonUnderTest.Privileges = DaemonUnderTest.canDropPrivileges ? .none : .all
    let watch = try KernelFixture(privileges: privileges) { pair in
      try pair.client.ip("route add default via 10.9.0.1 dev c0")
    }
    let numbers = 0..<Self.routes
    let added = numbers.map { "route add \(address($0)) via 10.9.0.5 dev c0" }
    let deleted = numbers.filter { !$0.isMultiple(of: 1000) }.map { "route del \(address($0))" }
    if isStopped { watch.daemon.child.kill(SIGSTOP) }
    try watch.client.ip(batch: added + ["route del default"] + deleted)
    watch.daemon.child.kill(SIGCONT)

    let lost = try watch.only(within: .seconds(60))
    #expect(lost.line == DefaultRouteTests.gone)
    let overran = watch.daemon.child.errors.contains("kernel events were lost")
    #expect(lost.causes.contains("resync") == overran || !isStopped)
    if isStopped, privileges == .none, try receiveLimit() <= 4 << 20 { #expect(overran) }
    for number in [0, 1, 999, 1000, 4999, 5000, 9000, 9999] {
      let answer = try watch.daemon.get("/hosts/\(address(number))").json
      let gateway = answer["addresses"]?[0]?["route"]?["gateway"]?.text
      #expect(gateway == (number.isMultiple(of: 1000) ? "10.9.0.5" : nil), "\(answer)")
      #expect(answer["isReachable"] == .bool(number.isMultiple(of: 1000)))
    }
    try watch.client.ip("route add default via 10.9.0.1 dev c0")
    let gained = try watch.only()
    #expect(gained.line == LinkTests.back)
    let answer = try watch.daemon.get("/hosts/\(address(1))").json
    #expect(answer["addresses"]?[0]?["route"]?["gateway"] == "10.9.0.1")
  }

  /// The largest receive buffer in bytes that a program without privileges gets.
  private func receiveLimit() throws -> Int {
    let child = try Child("/bin/cat", ["/proc/sys/net/core/rmem_max"])
    try child.wait()
    return Int(child.output.split(separator: "\n").first ?? "") ?? .max
  }
}
