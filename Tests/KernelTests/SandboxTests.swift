import Glibc
import TestSupport
import Testing

/// A kernel that answers as the sandbox gVisor does: no options of netlink sockets, no events, no `RTM_F_FIB_MATCH`, no rules, no
/// source addresses in answers, no timer that the clock cancels.
@Suite(.needsNamespaces) struct SandboxTests {
  private static let refused =
    // NETLINK_ADD_MEMBERSHIP, NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK.
    [1, 10, 11, 12].map { RefusedCall("setsockopt", [1: SOL_NETLINK, 2: $0], errno: ENOPROTOOPT) }
    + [SO_RCVTIMEO, SO_SNDTIMEO, SO_ATTACH_FILTER, SO_RCVBUFFORCE]
    .map { RefusedCall("setsockopt", [1: SOL_SOCKET, 2: $0], errno: ENOPROTOOPT) }
    // TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET.
    + [RefusedCall("timerfd_settime", [1: 3], errno: EINVAL)]

  /// `linux/socket.h`, which Glibc does not have.
  private static let SOL_NETLINK: Int32 = 270

  private let directory: TemporaryDirectory
  private let pair: VethPair

  init() throws {
    directory = try TemporaryDirectory()
    pair = try VethPair()
    try pair.addDefaultRoutes()
    try pair.waitForLinkLocal()
  }

  private func sandboxed() throws -> DaemonUnderTest {
    try DaemonUnderTest(
      in: pair.client, environment: try RefusedCall.environment(Self.refused, in: directory, and: ["sandbox"]))
  }

  @Test func verdictsAreThoseOfThePlainKernel() throws {
    try pair.client.ip("route add unreachable 198.51.100.0/24")
    let (plain, sandbox) = (try DaemonUnderTest(in: pair.client), try sandboxed())
    #expect(eventually { sandbox.child.errors.contains("polling instead") })
    for host in [
      "10.9.0.1", "10.9.0.2", "192.0.2.1", "198.51.100.1", "127.0.0.1", "224.0.0.1", "255.255.255.255", "fd09::1",
      "fd09::2", "2001:db8::1", "::1", "fe80::1%25c0", "default",
    ] {
      let (expected, found) = (try plain.get("/hosts/\(host)").json, try sandbox.get("/hosts/\(host)").json)
      for member in ["status", "reason"] { #expect(found[member] == expected[member], "\(host): \(found)") }
      for member in ["interface", "gateway", "source"] {
        #expect(found["route"]?[member] == expected["route"]?[member], "\(host): \(found)")
      }
    }
    let interfaces = try sandbox.get("/interfaces").json
    #expect(try plain.get("/interfaces").json["interfaces"] == interfaces["interfaces"])
  }

  @Test func routesOfABoundLookupUseItsInterface() throws {
    try pair.addSecondInterface()
    let sandbox = try sandboxed()
    #expect(try sandbox.get("/hosts/192.0.2.1?interface=c0").json["status"] == "reachable")
    #expect(try sandbox.get("/hosts/192.0.2.1?interface=d0").json["status"] == "notReachable")
  }

  /// Without the kernel's text, the refusal of a blackhole route cannot be distinguished from that of a wrong request.
  @Test func refusalWithoutTextIsNoBlackhole() throws {
    try pair.client.ip("route add blackhole 198.51.100.0/24")
    let found = try sandboxed().get("/hosts/198.51.100.1").json
    #expect(found["status"] == "unknown" && found["reason"] == "kernelUnavailable", "\(found)")
  }

  @Test func changesAreFoundByPolling() throws {
    let sandbox = try sandboxed()
    #expect(try sandbox.get("/status").json["status"] == "reachable")
    try pair.client.ip("link set c0 down")
    #expect(try eventually { try sandbox.get("/status").json["status"] == "notReachable" })
  }
}
