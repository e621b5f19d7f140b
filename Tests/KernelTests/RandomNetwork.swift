import ReachabilityModel
import TestSupport

/// Changes the network of a namespace at random, and chooses connections in it; the same seed gives the same sequence.
struct RandomNetwork {
  private var generator: SeededGenerator
  private var routes: [String] = []
  private var rules: [String] = []

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private static let ports: [UInt16] = [9, 443, 444]
  private static let sources: [IPAddress.Family: [String]] = [
    .ipv4: ["10.9.0.2", "10.9.0.3", "10.8.0.2", "10.60.1.1", "10.61.1.1", "192.0.2.99"],
    .ipv6: ["fd09::2", "fd09::3", "fd08::2", "2001:db8:99::1"],
  ]

  /// Adds a second link, `d0`, whose other end is in the router's namespace.
  func prepare(_ pair: VethPair) throws {
    try pair.client.ip("link add pad0 type veth peer name pad1")
    try pair.client.ip("link add d0 type veth peer name r1 netns \(pair.router.path)")
    try pair.client.ip("link del pad0")
    try pair.router.ip("link set r1 up")
    try pair.client.ip(batch: [
      "link set d0 up", "addr add 10.8.0.2/24 dev d0", "addr add fd08::2/64 dev d0 nodad",
      "addr add 10.9.0.3/24 dev c0",
      "addr add fd09::3/64 dev c0 nodad",
    ])
    try pair.addDefaultRoutes()
    for number in 1..<4 { try pair.client.ip("nexthop add id \(number) via 10.9.0.\(number + 10) dev c0") }
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

  private mutating func choice<Element>(_ elements: [Element]) -> Element { elements[number(0..<elements.count)] }

  /// An address of the few blocks in which all routes and destinations are.
  private mutating func address(_ family: IPAddress.Family) -> IPAddress {
    family == .ipv4
      ? IPAddress(ipv4: 0xc612_0000 | UInt32(number(0..<4)) << 14 | UInt32(number(0..<64)))
      : IPAddress(ipv6: 0x2001_0db8_0000_0000 | UInt64(number(0..<4)) << 14, UInt64(number(0..<64)))
  }

  private mutating func block(_ family: IPAddress.Family) -> String {
    let lengths: [UInt8] =
      family == .ipv4 ? [0, 1, 8, 15, 18, 26, 30, 32] : [0, 16, 32, 48, 50, 64, 122, 128]
    return IPPrefix(address(family), length: choice(lengths)).block.description
  }

  private mutating func route(_ family: IPAddress.Family) -> String {
    let table = choice(["", "", " table 100", " table 101", " table local"])
    let metric = " metric \(number(1..<4))"
    let isIPv4 = family == .ipv4
    let near = isIPv4 ? "10.9.0.\(number(1..<4) + 10)" : "fd09::\(number(1..<4) + 10)"
    let far = isIPv4 ? "10.8.0.1" : "fd08::1"
    let block = block(family)
    switch number(0..<14) {
    case 0: return "route TYPE blackhole \(block)\(table)\(metric)"
    case 1: return "route TYPE unreachable \(block)\(table)\(metric)"
    case 2: return "route TYPE prohibit \(block)\(table)\(metric)"
    case 3: return "route TYPE throw \(block)\(table)\(metric)"
    case 4: return "route TYPE \(block) nexthop via \(near) dev c0 nexthop via \(far) dev d0\(table)\(metric)"
    case 5: return "route TYPE \(block) dev d0\(table)\(metric)"
    case 6:
      return "route TYPE local \(isIPv4 ? choice(["10.60.0.0/16", "10.61.0.0/16"]) : block) dev lo\(table)\(metric)"
    case 7 where isIPv4: return "route TYPE local \(block) dev lo\(table)\(metric)"
    case 8 where isIPv4: return "route TYPE \(block) nhid \(number(1..<4))\(table)\(metric)"
    case 8: return "route TYPE \(block) from fd09::/64 via \(near) dev c0\(table)\(metric)"
    case 9 where isIPv4: return "route TYPE \(block) via \(far) dev d0 src 10.9.0.3\(table)\(metric)"
    case 9, 10: return "route TYPE \(block) via \(far) dev d0\(table)\(metric)"
    default: return "route TYPE \(block) via \(near) dev c0\(table)\(metric)"
    }
  }

  private mutating func rule(_ family: IPAddress.Family) -> String {
    let source = choice(Self.sources[family] ?? [])
    let selector = choice([
      "to \(block(family))", "from \(source)", "from \(source) to \(block(family))", "ipproto tcp dport 443",
      "dport 443-444", "ipproto tcp", "ipproto udp", "oif c0", "oif d0", "from \(source) fwmark 5", "iif lo",
      "from \(source) dport 443", "not from \(source)",
    ])
    let action = choice([
      "lookup 100", "lookup 101", "lookup 100", "lookup main suppress_prefixlength 0",
      "lookup 100 suppress_prefixlength 17",
      "blackhole", "prohibit", "unreachable", "goto 32766",
    ])
    return "rule TYPE pref \(number(100..<110)) \(selector) \(action)"
  }

  /// Some commands for `ip -batch`, of which some fail; routes and rules are removed later.
  mutating func commands() -> [String] {
    var commands: [String] = []
    for _ in 0..<number(2..<10) {
      let family: IPAddress.Family = choice([.ipv4, .ipv6])
      let option = family == .ipv4 ? "-4 " : "-6 "
      switch number(0..<20) {
      case 0..<7:
        let route = option + route(family)
        routes.append(route)
        commands.append(route.replacing("TYPE", with: choice(["add", "replace", "append"])))
      case 7..<11 where !routes.isEmpty:
        commands.append(routes.remove(at: number(0..<routes.count)).replacing("TYPE", with: "del"))
      case 11..<13 where rules.count < 5:
        let rule = option + rule(family)
        rules.append(rule)
        commands.append(rule.replacing("TYPE", with: "add"))
      case 13..<15 where !rules.isEmpty:
        commands.append(rules.remove(at: number(0..<rules.count)).replacing("TYPE", with: "del"))
      case 15: commands.append("link set \(choice(["c0", "d0"])) \(choice(["up", "down", "up"]))")
      case 16: commands.append("-4 addr \(choice(["add", "del"])) \(choice(["10.9.0.2/24", "10.9.0.3/24"])) dev c0")
      case 17: commands.append("-4 addr \(choice(["add", "del"])) 10.8.0.2/24 dev d0")
      case 18:
        commands.append("-6 addr \(choice(["add", "del"])) \(choice(["fd09::2/64", "fd09::3/64"])) dev c0 nodad")
      case 19:
        commands += [
          "-4 route replace default via 10.9.0.1 dev c0 metric 100",
          "-6 route replace default via fd09::1 dev c0 metric 100",
        ]
      default: break
      }
    }
    return commands
  }

  /// Some sysctls, and their values.
  mutating func settings() -> [(String, Int)] {
    switch number(0..<12) {
    case 0:
      [("net.ipv4.fib_multipath_hash_policy", number(0..<2)), ("net.ipv6.fib_multipath_hash_policy", number(0..<2))]
    case 1: [("net.ipv4.conf.c0.ignore_routes_with_linkdown", number(0..<2))]
    case 2: [("net.ipv6.conf.c0.keep_addr_on_down", number(0..<2))]
    default: []
    }
  }

  /// A connection: to an address of the blocks, a neighbour or this machine, from any or a certain source or interface.
  mutating func question() -> ConnectionComparisonTests.Question {
    let family: IPAddress.Family = choice([.ipv4, .ipv6])
    let near =
      family == .ipv4
      ? ["10.9.0.1", "10.8.0.7", "10.9.0.2", "10.60.1.1", "10.61.2.2", "127.0.0.1"]
      : ["fd09::1", "fd08::7", "fd09::2", "::1"]
    let isNear = number(0..<5) == 0
    let destination = isNear ? IPAddress(choice(near)) ?? address(family) : address(family)
    return ConnectionComparisonTests.Question(
      destination: destination,
      source: number(0..<3) == 0 ? IPAddress(choice(Self.sources[family] ?? [])) : nil,
      // Packets to loopback addresses do not leave the machine, although a bound socket connects (RFC 1122 §3.2.1.3).
      interface: number(0..<4) == 0 && !destination.isLoopback ? choice(["c0", "d0"]) : nil, port: choice(Self.ports))
  }

  /// The network as `ip` shows it.
  func dump(_ client: Namespace) throws -> String {
    try ["-4 rule", "-6 rule", "-4 route show table all", "-6 route show table all", "addr"]
      .map { try client.ip($0) }.joined(separator: "\n")
  }
}
