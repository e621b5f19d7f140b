import NetworkReachability
import TestSupport
import Testing

/// What the classes of watched targets say, against the kernel's own lookup of each target, in tables made to mislead:
/// overlapping blocks, host routes, every type, several metrics and tables, rules, multipath, links that come and go.
///
/// `REACHD_LOOKUP_CHECKS` sets how many lookups are compared.
@Suite(.needsNamespaces) struct LongestPrefixTests {
  static let checks = ProcessEnvironment.number("REACHD_LOOKUP_CHECKS") ?? 20_000
  static let targetsAtOnce = 1000

  /// What changes the network, at random, and knows what it made.
  struct Meddler {
    var generator: SeededGenerator
    var routes: [String] = []
    var rules: [String] = []

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// An address of the crowded blocks in which all routes and targets lie.
    mutating func address(_ isIPv4: Bool) -> IPAddress {
      isIPv4
        ? IPAddress(ipv4: 0xc612_0000 | UInt32(number(0..<4)) << 14 | UInt32(number(0..<64)))
        : IPAddress(ipv6: 0x2001_0db8_0000_0000 | UInt64(number(0..<4)) << 14, UInt64(number(0..<64)))
    }

    mutating func block(_ isIPv4: Bool) -> String {
      let lengths = isIPv4 ? [0, 1, 8, 15, 18, 26, 27, 30, 31, 32] : [0, 16, 32, 48, 50, 64, 122, 126, 127, 128]
      return IPPrefix(address(isIPv4), length: UInt8(lengths[number(0..<10)])).block.description
    }

    mutating func route() -> String {
      let isIPv4 = number(0..<3) > 0
      let table = ["", "", "", " table 100", " table local"][number(0..<5)]
      let metric = " metric \(number(1..<4))"
      let family = isIPv4 ? "-4" : "-6"
      let (near, far) = isIPv4 ? ("10.9.0.\(number(1..<4))", "10.8.0.1") : ("fd09::\(number(1..<4))", "fd08::1")
      switch number(0..<12) {
      case 0...1: return "\(family) route TYPE blackhole \(block(isIPv4))\(table)\(metric)"
      case 2: return "\(family) route TYPE unreachable \(block(isIPv4))\(table)\(metric)"
      case 3: return "\(family) route TYPE prohibit \(block(isIPv4))\(table)\(metric)"
      case 4: return "\(family) route TYPE throw \(block(isIPv4))\(table)\(metric)"
      case 5:
        return "\(family) route TYPE \(block(isIPv4)) nexthop via \(near) dev c0 nexthop via \(far) dev d0\(metric)"
      case 6: return "\(family) route TYPE \(block(isIPv4)) dev d0\(table)\(metric)"
      case 7 where isIPv4: return "-4 route TYPE \(block(true)) via 10.9.0.1 dev c0 tos 0x10\(metric)"
      case 8 where isIPv4: return "-4 route TYPE \(block(true)) via 192.0.2.77 dev c0 onlink\(table)\(metric)"
      case 9 where !isIPv4: return "-6 route TYPE \(block(false)) via \(near) dev c0 expires 2\(metric)"
      case 10 where isIPv4: return "-4 route TYPE \(block(true)) nhid \(number(1..<4))\(table)\(metric)"
      default: return "\(family) route TYPE \(block(isIPv4)) via \(near) dev c0\(table)\(metric)"
      }
    }

    mutating func rule() -> String {
      let isIPv4 = number(0..<2) > 0
      let action = ["lookup 100", "lookup 100 suppress_prefixlength 17", "blackhole", "prohibit", "unreachable"][
        number(0..<5)]
      return "\(isIPv4 ? "-4" : "-6") rule TYPE to \(block(isIPv4)) \(action) priority \(number(100..<110))"
    }

    /// Some commands for `ip -batch`, and what they undo later.
    mutating func commands() -> [String] {
      var commands: [String] = []
      for _ in 0..<number(4..<24) {
        switch number(0..<20) {
        case 0..<10:
          let route = route()
          routes.append(route)
          commands.append(route.replacing("TYPE", with: ["add", "replace", "append"][number(0..<3)]))
        case 10..<14 where !routes.isEmpty:
          commands.append(routes.remove(at: number(0..<routes.count)).replacing("TYPE", with: "del"))
        case 14 where rules.count < 4:
          let rule = rule()
          rules.append(rule)
          commands.append(rule.replacing("TYPE", with: "add"))
        case 15 where !rules.isEmpty:
          commands.append(rules.remove(at: number(0..<rules.count)).replacing("TYPE", with: "del"))
        case 16: commands += ["link set d0 down", "link set d0 up"]
        case 17: commands += ["addr add 10.8.1.2/24 dev d0", "addr del 10.8.1.2/24 dev d0"]
        case 18: commands += ["-6 addr add fd08:1::2/64 dev d0 nodad", "-6 addr del fd08:1::2/64 dev d0"]
        case 19: commands += ["nexthop del id 3", "nexthop add id 3 via 10.9.0.3 dev c0"]
        default: break
        }
      }
      return commands
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func forwardingClassesMatchTheKernel(seed: UInt64) throws {
    var meddler = Meddler(generator: SeededGenerator(seed: seed))
    let pair = try VethPair()
    let client = pair.client
    try pair.addDefaultRoutes()
    try pair.addSecondInterface()
    try client.ip(batch: (1..<4).map { "nexthop add id \($0) via 10.9.0.\($0) dev c0" })
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try client.run { () throws(KernelError) in try monitor.start() }
    defer { monitor.stop() }
    let rounds = max(2, Self.checks / 2 / Self.targetsAtOnce)
    for round in 0..<rounds {
      let targets = (0..<Self.targetsAtOnce).map { _ in
        ReachabilityTarget(.address(meddler.address(meddler.number(0..<3) > 0)))
      }
      let subscription = try #require(monitor.listen(to: .host, watching: targets, on: .direct) { _ in })
      try client.ipAnyway(batch: meddler.commands())
      // Soon, without an event that would correct it later: an audit is a minute away.
      var wrong: [ReachabilityTarget] = []
      let isRight = try eventually(within: .seconds(20)) { () throws(KernelError) in
        wrong = []
        for target in targets where try monitor.evaluate(target) != monitor.verdict(of: target) { wrong.append(target) }
        return wrong.isEmpty
      }
      if !isRight, let first = wrong.first {
        Issue.record(
          """
          seed \(seed), round \(round): \(wrong.count) differ, such as \(first): \
          \(String(describing: monitor.verdict(of: first)?.path)) instead of \(try monitor.evaluate(first).path); \
          \(try client.ip("route get \(first)"))
          """)
        break
      }
      subscription.cancel()
    }
  }
}

extension DeliveryContext {
  /// On the thread that delivers.
  static var direct: DeliveryContext { DeliveryContext { $0() } }
}

extension Namespace {
  /// Runs `ip` commands of which some may fail, as random ones do.
  ///
  /// The family stands before each, as for one command alone; a batch has one family.
  func ipAnyway(batch commands: [String]) throws {
    var rest = commands[...]
    while let first = rest.first {
      let family = first.hasPrefix("-6") ? "-6" : "-4"
      let run = rest.prefix { ($0.hasPrefix("-6") ? "-6" : "-4") == family }
      rest = rest.dropFirst(run.count)
      let lines = run.map { ($0.hasPrefix("-") ? String($0.dropFirst(3)) : $0) + "\n" }
      let child = try spawn("/sbin/ip", [family, "-force", "-batch", "-"], input: lines.joined())
      try child.wait()
    }
  }
}
