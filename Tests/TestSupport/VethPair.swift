/// Two namespaces joined by a cable: the client's end `c0` (10.9.0.2/24, fd09::2/64), the router's `r0` (….1).
public struct VethPair: Sendable {
  /// Where the machine under test lives.
  public let client: Namespace
  /// The other end of the cable.
  public let router: Namespace

  /// Makes the namespaces and switches the cable on.
  public init() throws(TestError) {
    client = try Namespace()
    router = try Namespace()
    for namespace in [client, router] {
      // Otherwise IPv6 addresses are tentative for a second or two, although no other host can have them.
      try namespace.sysctl("net.ipv6.conf.all.accept_dad", 0)
      try namespace.sysctl("net.ipv6.conf.default.accept_dad", 0)
    }
    try router.sysctl("net.ipv4.ip_forward", 1)
    try router.sysctl("net.ipv6.conf.all.forwarding", 1)
    // The kernel puts off carrier events of a device whose peer has the same index in its namespace by up to a second;
    // one device made before gives the two ends different ones.
    try client.ip("link add pad0 type veth peer name pad1")
    try client.ip("link add c0 type veth peer name r0 netns \(router.path)")
    try client.ip("link del pad0")
    try client.ip("link set c0 up")
    try router.ip("link set r0 up")
    try client.ip(batch: ["addr add 10.9.0.2/24 dev c0", "addr add fd09::2/64 dev c0 nodad"])
    try router.ip(batch: ["addr add 10.9.0.1/24 dev r0", "addr add fd09::1/64 dev r0 nodad"])
    let client = client
    guard try eventually({ () throws(TestError) in try client.ip("-o link show c0").contains("state UP") }) else {
      throw TestError("c0 did not come up")
    }
  }

  /// Gives the client its default routes by way of the router, with metric 100.
  public func addDefaultRoutes() throws(TestError) {
    try client.ip(batch: [
      "route add default via 10.9.0.1 dev c0 metric 100", "route add ::/0 via fd09::1 dev c0 metric 100",
    ])
  }
}
