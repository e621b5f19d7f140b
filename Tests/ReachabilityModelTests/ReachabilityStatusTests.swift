import ReachabilityModel
import TestSupport
import Testing

@Suite("ReachabilityStatus")
struct ReachabilityStatusTests {
  @Test("E1-1 all 512 sets of flags follow the table of the modern rule")
  func exhaustive() {
    let every = ReachabilityFlags.named.map(\.flag)
    for bits in 0..<512 {
      let flags = every.indices.reduce(into: ReachabilityFlags()) { set, index in
        if bits >> index & 1 == 1 { set.insert(every[index]) }
      }
      #expect(ReachabilityStatus(flags) == Self.table(flags), "\(flags.names)")
    }
  }

  @Test("Descriptions of statuses, reasons and causes are their wire names")
  func descriptions() {
    let statuses: [ReachabilityStatus] = [.unknown, .notReachable, .reachable(.ethernetOrWiFi), .reachable(.wwan)]
    #expect(
      statuses.map { "\($0)" } == ["unknown", "notReachable", "reachable(ethernetOrWiFi)", "reachable(wwan)"])
    #expect("\(Reason.noRoute)" == "noRoute" && "\([Cause.linkUp, .routeAdded])" == "[linkUp, routeAdded]")
  }

  /// The table, row by row, as a reference for the rule under test.
  private static func table(_ flags: ReachabilityFlags) -> ReachabilityStatus {
    let automatic = flags.contains(.connectionOnTraffic) || flags.contains(.connectionOnDemand)
    let kind: ReachabilityStatus = .reachable(flags.contains(.isWWAN) ? .wwan : .ethernetOrWiFi)
    switch (
      flags.contains(.reachable), flags.contains(.connectionRequired), automatic, flags.contains(.interventionRequired)
    ) {
    case (false, _, _, _): return .notReachable
    case (true, false, _, _): return kind
    case (true, true, false, _): return .notReachable
    case (true, true, true, true): return .notReachable
    case (true, true, true, false): return kind
    }
  }

  @Test(
    "A-12 … A-19 cases of Alamofire's tests",
    arguments: [
      ("A-12", [.connectionOnDemand], .notReachable),
      ("A-13", [.reachable, .connectionRequired], .notReachable),
      ("A-14", [.reachable, .connectionRequired, .interventionRequired], .notReachable),
      ("A-15", [.reachable], .reachable(.ethernetOrWiFi)),
      ("A-16", [.reachable, .connectionRequired, .connectionOnDemand], .reachable(.ethernetOrWiFi)),
      ("A-17", [.reachable, .connectionRequired, .connectionOnTraffic], .reachable(.ethernetOrWiFi)),
      ("A-18", [.reachable, .isWWAN], .reachable(.wwan)),
      ("A-19", [.reachable, .isWWAN, .connectionRequired], .notReachable),
    ] as [(String, ReachabilityFlags, ReachabilityStatus)])
  func parents(_ id: String, _ flags: ReachabilityFlags, _ status: ReachabilityStatus) {
    #expect(ReachabilityStatus(flags) == status)
  }

  @Test("E1-2 the flags have Apple's bits and names, in bit order")
  func rawValues() {
    let expected: [(String, UInt32)] = [
      ("transientConnection", 1 << 0), ("reachable", 1 << 1), ("connectionRequired", 1 << 2),
      ("connectionOnTraffic", 1 << 3), ("interventionRequired", 1 << 4), ("connectionOnDemand", 1 << 5),
      ("isLocalAddress", 1 << 16), ("isDirect", 1 << 17), ("isWWAN", 1 << 18),
    ]
    #expect(ReachabilityFlags.named.map(\.name) == expected.map(\.0))
    #expect(ReachabilityFlags.named.map(\.flag.rawValue) == expected.map(\.1))
    #expect(ReachabilityFlags(rawValue: .max).names == expected.map(\.0))
    #expect(ReachabilityFlags([.isWWAN, .reachable]).names == ["reachable", "isWWAN"])
    #expect(ReachabilityFlags().names.isEmpty)
  }

  @Test("E1-3 no value of the flags means unknown; only an unevaluated path does")
  func unknown() {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<10_000 {
      let flags = ReachabilityFlags(rawValue: UInt32.random(in: 0...UInt32.max, using: &generator))
      #expect(ReachabilityStatus(flags) != .unknown)
    }
    #expect(NetworkPath.unknown(.starting).status == .unknown)
    #expect(NetworkPath.none(.noRoute).status == .notReachable)
    #expect(NetworkPath(flags: [.reachable]).status == .reachable(.ethernetOrWiFi))
  }

  @Test("A status has a name and a connection type")
  func names() {
    #expect(ReachabilityStatus.unknown.name == "unknown")
    #expect(ReachabilityStatus.notReachable.name == "notReachable")
    #expect(ReachabilityStatus.reachable(.wwan).name == "reachable")
    #expect(ReachabilityStatus.reachable(.wwan).connectionType?.rawValue == "wwan")
    #expect(ReachabilityStatus.reachable(.ethernetOrWiFi).connectionType?.rawValue == "ethernetOrWiFi")
    #expect(ReachabilityStatus.unknown.connectionType == nil)
    #expect(!ReachabilityStatus.unknown.isReachable && !ReachabilityStatus.notReachable.isReachable)
    #expect(ReachabilityStatus.reachable(.wwan).isReachable)
  }

  @Test("A path that passes more steps of the lookup ranks higher")
  func ranks() {
    let ascending: [NetworkPath] = [
      .unknown(.kernelUnavailable), .none(.noRoute), .none(.linkDown),
      NetworkPath(flags: [.reachable, .connectionRequired], reason: .connectionRequired),
      NetworkPath(flags: [.reachable]),
    ]
    #expect(ascending.map(\.rank) == [0, 1, 2, 3, 4])
    for reason in [Reason.unreachableRoute, .blackhole, .prohibited, .noSource] {
      #expect(NetworkPath.none(reason).rank == 2, "\(reason.rawValue)")
    }
    #expect(NetworkPath.none(.unknownInterface).rank == 1)
  }

  @Test("The leading family is reachable IPv4, else the one with the higher rank")
  func leading() {
    let (up, none) = (NetworkPath(flags: [.reachable]), NetworkPath.none(.noRoute))
    let cell = NetworkPath(flags: [.reachable, .isWWAN])
    #expect(MachinePath(ipv4: up, ipv6: cell).leading == up)
    #expect(MachinePath(ipv4: none, ipv6: cell).status == .reachable(.wwan))
    #expect(MachinePath(ipv4: none, ipv6: .none(.linkDown)).reason == .linkDown)
    #expect(MachinePath(ipv4: .none(.prohibited), ipv6: .none(.linkDown)).reason == .prohibited)
    #expect(MachinePath(ipv4: none, ipv6: .unknown(.kernelUnavailable)).status == .notReachable)
    #expect(MachinePath(ipv4: .unknown(.starting), ipv6: .unknown(.starting)).status == .unknown)
    #expect(MachinePath(ipv4: none, ipv6: up).flags == .reachable)
  }

  @Test("Causes are sorted in one order that contains each cause once")
  func causes() {
    #expect(Cause.sorted([.check, .linkUp, .routeAdded]) == [.linkUp, .routeAdded, .check])
    #expect(Set(Cause.inOrder).count == Cause.inOrder.count)
    let wire =
      "linkUp, linkDown, renamed, carrierGained, carrierLost, addressAdded, addressRemoved, routeAdded, routeRemoved, "
      + "routeReplaced, routeExpired, ruleChanged, nexthopChanged, neighbourChanged, dnsChanged, resync, resume, "
      + "configuration, check, restart"
    #expect(Cause.inOrder.map(\.rawValue).joined(separator: ", ") == wire)
  }
}
