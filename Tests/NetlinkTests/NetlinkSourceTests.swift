import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Every change that the kernel makes silently, or nearly so, must lead to a reading that shows it.
@Suite(.enabled(if: Namespace.isSupported)) struct NetlinkSourceTests {
  @Test func startReturnsAfterTheFirstReading() throws {
    let running = try RunningSource()
    let first = try #require(running.observer.readings.first)
    #expect(first.tables.interfaces.map(\.name) == ["lo", "c0"])
    #expect(first.tables.interfaces.map(\.type) == [.loopback, .ethernet])
    #expect(first.answers[RouteQuery(RunningSource.ipv4)]?.route?.metric == 100)
    #expect(first.causes.isEmpty && first.uptime > .zero && first.time > Timestamp(microseconds: 0))
    #expect(running.source.counters.readings >= 1 && running.source.counters.barriers >= 1)
  }

  @Test func linkDownRemovesRoutesWithoutAnEvent() throws {
    let running = try RunningSource()
    try running.client.ip("link set c0 down")
    #expect(running.becomes(ipv4: false, ipv6: false))
    #expect(running.observer.last?.tables.interface(named: "c0")?.usability == .adminDown)
    try running.client.ip("link set c0 up")
    #expect(eventually { running.observer.last?.tables.interface(named: "c0")?.usability == .usable })
  }

  @Test func carrierLossHasNoRouteEvent() throws {
    let running = try RunningSource()
    try running.pair.router.ip("link set r0 down")
    #expect(running.observer.waits(RunningSource.ipv4) { $0?.route?.hops.first?.isLinkDown == true })
    #expect(running.observer.waits(RunningSource.ipv6) { $0?.route?.hops.first?.isLinkDown == true })
    #expect(running.observer.last?.tables.interface(named: "c0")?.usability == .linkDown)
    try running.pair.router.ip("link set r0 up")
    #expect(running.observer.waits(RunningSource.ipv4) { $0?.route?.hops.first?.isLinkDown == false })
  }

  @Test func lastAddressRemovalRemovesTheDefaultRoute() throws {
    let running = try RunningSource()
    try running.client.ip("addr del 10.9.0.2/24 dev c0")
    #expect(running.becomes(ipv4: false, ipv6: true))
    #expect(running.observer.last?.tables.owners(of: "10.9.0.2").isEmpty == true)
  }

  @Test func nexthopRemovalRemovesItsRoutes() throws {
    let running = try RunningSource(hasDefaults: false)
    try running.client.ip("nexthop add id 7 via 10.9.0.1 dev c0")
    try running.client.ip("route add default nhid 7")
    #expect(running.becomes(ipv4: true))
    running.observer.removeAll()
    try running.client.ip("nexthop del id 7")
    #expect(running.becomes(ipv4: false))
    #expect(running.observer.causes.contains(.nexthopChanged))
  }

  @Test func replacedRouteIsReportedAsAdded() throws {
    let running = try RunningSource()
    running.observer.removeAll()
    try running.client.ip("route replace default via 10.9.0.9 dev c0 metric 100")
    #expect(running.observer.waits(RunningSource.ipv4) { $0?.route?.hops.first?.gateway == "10.9.0.9" })
    #expect(running.observer.causes == [.routeReplaced])
  }

  @Test func routesComeAndGo() throws {
    let running = try RunningSource(hasDefaults: false)
    running.observer.removeAll()
    try running.client.ip("route add default via 10.9.0.1 dev c0")
    #expect(running.becomes(ipv4: true))
    #expect(running.observer.causes == [.routeAdded])
    running.observer.removeAll()
    try running.client.ip("route del default via 10.9.0.1 dev c0")
    #expect(running.becomes(ipv4: false))
    #expect(running.observer.causes.contains(.routeRemoved))
  }

  @Test func rulesChangeWithoutRoutes() throws {
    let running = try RunningSource()
    running.observer.removeAll()
    try running.client.ip("rule add to 192.0.2.0/24 prohibit")
    #expect(running.observer.waits(RunningSource.ipv4) { $0 == .refused(.prohibited) })
    #expect(running.observer.causes == [.ruleChanged])
    try running.client.ip("rule del to 192.0.2.0/24 prohibit")
    #expect(running.becomes(ipv4: true))
  }

  @Test func ignoreRoutesWithLinkdownIsRespected() throws {
    let running = try RunningSource()
    try running.pair.router.ip("link set r0 down")
    #expect(running.observer.waits(RunningSource.ipv4) { $0?.route?.hops.first?.isLinkDown == true })
    try running.client.sysctl("net.ipv4.conf.c0.ignore_routes_with_linkdown", 1)
    #expect(running.becomes(ipv4: false))
  }

  @Test func expiryIsReadAtTheDeadlineOfTheObserver() throws {
    let running = try RunningSource(hasDefaults: false) { reading in
      // As a real observer: read again when the route has lived its life.
      reading.answers.values.compactMap { $0.route?.expiresIn }.min().map { reading.uptime + $0 }
    }
    try running.client.ip("-6 route add default via fd09::1 dev c0 expires 1")
    #expect(running.becomes(ipv6: true))
    #expect(running.becomes(ipv6: false))
  }

  @Test func sourceBeforeItsFirstReadingIsNotStuck() {
    let before = KernelClock.uptime
    let source = NetlinkSource(logger: Logger(label: "test"))
    let silence = source.timeSinceProgress
    #expect(silence >= .zero && silence <= KernelClock.uptime - before)
  }

  @Test func detectionOfDuplicateAddresses() throws {
    let running = try RunningSource()
    try running.client.sysctl("net.ipv6.conf.c0.accept_dad", 1)
    try running.client.ip("addr add fd09::5/64 dev c0")
    #expect(eventually { running.observer.last?.tables.owners(of: "fd09::5").first?.isUsable == true })
    // The router has this one already.
    try running.client.ip("addr add fd09::1/64 dev c0")
    #expect(
      eventually { running.observer.last?.tables.owners(of: "fd09::1").first?.flags.contains(.dadFailed) == true })
  }

  @Test func dormantInterfaces() throws {
    let running = try RunningSource()
    try running.client.ip("link set c0 mode dormant")
    try running.pair.router.ip("link set r0 down")
    #expect(eventually { running.observer.last?.tables.interface(named: "c0")?.usability == .linkDown })
    try running.pair.router.ip("link set r0 up")
    #expect(eventually { running.observer.last?.tables.interface(named: "c0")?.usability == .dormant })
    #expect(running.observer.answer(RunningSource.ipv4)?.route != nil)
  }

  @Test func renamedMovedAndDeletedLinks() throws {
    let running = try RunningSource()
    let elsewhere = try Namespace()
    try running.client.ip("link set c0 down")
    try running.client.ip("link set c0 name wan0")
    #expect(eventually { running.observer.last?.tables.interface(named: "wan0") != nil })
    try running.client.ip("link set wan0 netns \(elsewhere.path)")
    #expect(eventually { running.observer.last?.tables.interfaces.map(\.name) == ["lo"] })
    try elsewhere.ip("link set wan0 netns \(running.client.path)")
    #expect(eventually { running.observer.last?.tables.interface(named: "wan0") != nil })
    try running.client.ip("link del wan0")
    #expect(eventually { running.observer.last?.tables.interfaces.map(\.name) == ["lo"] })
  }

  @Test func refreshRepeatsTheLookups() throws {
    let running = try RunningSource()
    #expect(running.observer.answer("10.9.0.1") == nil)
    running.observer.setQueries([RouteQuery("10.9.0.1")])
    running.source.refresh()
    #expect(running.observer.waits("10.9.0.1") { $0?.route?.prefix == "10.9.0.0/24" })
  }

  @Test func requestedLookups() throws {
    let running = try RunningSource()
    let query = RouteQuery("203.0.113.1")
    // The socket belongs to the namespace in which the source was started, not to the caller's.
    #expect(try running.source.lookUp([query])[query]?.route?.metric == 100)
    try running.client.ip("link set c0 down")
    #expect(try running.source.lookUp([query])[query] == .refused(.noRoute))
  }

  @Test("E7-4 without events it polls instead of failing, every 10 seconds unless it is told otherwise")
  func withoutEventsItPolls() throws {
    var settings = NetlinkSource.Settings()
    #expect(settings.pollInterval == .seconds(10))
    settings.listensToEvents = false
    settings.pollInterval = .milliseconds(20)
    let running = try RunningSource(settings: settings)
    try running.client.ip("link set c0 down")
    #expect(running.becomes(ipv4: false, ipv6: false))
    #expect(running.observer.last?.tables.interface(named: "c0")?.usability == .adminDown)
    #expect(running.source.counters.events == 0)
  }

  @Test(.enabled(if: TunDevice.isSupported)) func simulatedModems() throws {
    let running = try RunningSource()
    let modem = try TunDevice("modem0", hardwareType: 519, in: running.client)
    let phone = try TunDevice("dial0", hardwareType: 512, in: running.client)
    let vpn = try TunDevice("vpn0", in: running.client)
    #expect(
      eventually {
        let tables = running.observer.last?.tables
        return [modem, phone, vpn].map { tables?.interface(named: $0.name)?.type } == [.wwan, .ppp, .tunnel]
      })
    try running.client.ip("link set modem0 up")
    #expect(eventually { running.observer.last?.tables.interface(named: "modem0")?.usability == .usable })
    try modem.setCarrier(false)
    #expect(eventually { running.observer.last?.tables.interface(named: "modem0")?.usability == .linkDown })
  }

  @Test func countersMatchTheEvents() throws {
    let running = try RunningSource()
    let before = running.source.counters
    try running.client.ip("route add 198.51.100.0/24 via 10.9.0.1")
    #expect(eventually { running.source.counters.readings > before.readings })
    let after = running.source.counters
    #expect(after.events > before.events && after.datagrams > before.datagrams)
    #expect(after.lastProgress > before.lastProgress && after.overruns == 0 && after.failures == 0)
    // A route's event has no silent part: no barrier.
    #expect(running.observer.overlaps == 0)
  }
}
