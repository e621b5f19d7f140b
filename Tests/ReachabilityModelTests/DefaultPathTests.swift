import ReachabilityModel
import Testing

@Suite("The default path and the local link")
struct DefaultPathTests {
  let tables = KernelTables(interfaces: StatusRulesTests.interfaces)

  func path(_ family: IPAddress.Family, _ low: RouteAnswer?, _ high: RouteAnswer?) -> NetworkPath {
    let queries = StatusRules.defaultQueries(family)
    let answers = Dictionary(uniqueKeysWithValues: zip(queries, [low, high])).compactMapValues(\.self)
    return StatusRules.defaultPath(queries, answers, in: tables)
  }

  @Test("E4-2 each half of each family is asked about, and never the unspecified address")
  func sentinels() {
    #expect(StatusRules.sentinels(.ipv4).map(\.description) == ["0.0.0.1", "128.0.0.1"])
    #expect(StatusRules.sentinels(.ipv6).map(\.description) == ["2000::1", "3000::1"])
    #expect(StatusRules.defaultQueries(.ipv4, interfaceIndex: 3).allSatisfy { $0.interfaceIndex == 3 })
  }

  @Test("E4-1 a family with both halves is reachable by its lower half")
  func bothHalves() throws {
    let found = path(
      .ipv4, .route(try .byDefault(via: "10.0.0.1")), .route(try .byDefault(via: "10.0.1.1", on: 3)))
    #expect(try found.flags == .reachable && found.gateway == ip("10.0.0.1"))
  }

  @Test("One half alone is reachable")
  func oneHalf() throws {
    let way = RouteAnswer.route(try .byDefault(via: "10.0.0.1"))
    for (low, high) in [(way, RouteAnswer.refused(.noRoute)), (.refused(.noRoute), way)] {
      let found = path(.ipv4, low, high)
      #expect(found.status.isReachable)
    }
  }

  @Test("When neither half is reachable, the half that comes further gives the reason, the lower on a tie")
  func neither() throws {
    let linkDown = RouteAnswer.route(try .byDefault(via: "10.0.0.1", linkDown: true))
    #expect(path(.ipv4, .refused(.noRoute), linkDown).reason == .linkDown)
    #expect(path(.ipv4, .refused(.blackhole), linkDown).reason == .blackhole)
    #expect(path(.ipv4, .refused(.noRoute), .refused(.noRoute)) == .none(.noRoute))
    #expect(path(.ipv4, .refused(.failed(errno: 5)), .refused(.noRoute)).status == .notReachable)
    #expect(path(.ipv4, nil, nil) == .unknown(.starting))
    #expect(path(.ipv4, nil, .refused(.noRoute)).reason == .noRoute)
  }

  @Test("A default route into the loopback device is no way out")
  func loopback() throws {
    let inwards = RouteAnswer.route(try .onLink("0.0.0.0/0", on: 1, source: "127.0.0.1"))
    #expect(path(.ipv4, inwards, inwards) == .none(.noRoute))
    var local = try Route.onLink("0.0.0.0/0", on: 1, source: "127.0.0.1")
    local.type = .local
    #expect(path(.ipv4, .route(local), .route(local)) == .none(.noRoute))
  }

  @Test("Without a gateway a default route is direct, except through a point-to-point device")
  func gatewayless() throws {
    let wire = RouteAnswer.route(try .onLink("0.0.0.0/0"))
    #expect(path(.ipv4, wire, wire).flags == [.reachable, .isDirect])
    let tunnel = RouteAnswer.route(try .onLink("0.0.0.0/0", on: 5))
    #expect(path(.ipv4, tunnel, tunnel).flags == [.reachable, .transientConnection])
  }

  @Test("A local link is a wired or Wi-Fi interface that passes packets and has an address")
  func localLink() throws {
    let rows: [(InterfaceType, String?, Bool)] = [
      (.ethernet, "10.0.0.5/24", true), (.wifi, "169.254.7.7/16", true), (.ethernet, "fe80::5/64", true),
      (.ethernet, "fd00::5/64", false), (.ethernet, nil, false), (.wwan, "10.0.0.5/24", false),
      (.tunnel, "10.0.0.5/24", false), (.ppp, "10.0.0.5/24", false), (.other, "10.0.0.5/24", false),
    ]
    for (type, address, reachable) in rows {
      let addresses: [(UInt32, String)] = address.map { [(UInt32(2), $0)] } ?? []
      let tables = try KernelTables.sample([.loopback(), .sample(2, "dev0", type)], addresses)
      let path = StatusRules.localLink(in: tables)
      let flags: ReachabilityFlags = reachable ? [.reachable, .isDirect] : []
      #expect(path.flags == flags, "\(type) \(address ?? "-")")
    }
    #expect(StatusRules.localLink(in: try .sample([.loopback()], [(1, "127.0.0.1/8")])) == .none(.noRoute))
  }

  @Test("A local link that is not usable says why, and the one that comes furthest speaks")
  func localLinkReasons() throws {
    let off = Interface.sample(2, "eth0", flags: [], state: .down)
    let unplugged = Interface.sample(3, "eth1", flags: .up, state: .down)
    let waiting = Interface.sample(4, "eth2", flags: .up, state: .dormant)
    let bare = Interface.sample(5, "eth3")
    func reason(_ interfaces: [Interface], _ name: String? = nil) throws -> Reason? {
      let addresses = interfaces.filter { $0.name != "eth3" }.map { ($0.index, "10.0.0.\($0.index)/24") }
      return StatusRules.localLink(interface: name, in: try .sample(interfaces, addresses)).reason
    }
    #expect(try reason([off]) == .noRoute)
    #expect(try reason([off, unplugged]) == .linkDown)
    #expect(try reason([bare, unplugged]) == .linkDown)
    #expect(try reason([off, bare]) == .noSource)
    #expect(try reason([off, unplugged, waiting]) == .connectionRequired)
    #expect(try reason([off, unplugged, waiting, .sample(6, "eth4")]) == nil)
    #expect(try reason([off, unplugged, .sample(6, "eth4")], "eth1") == .linkDown)
    #expect(try reason([.sample(6, "eth4")], "eth9") == .unknownInterface)
  }
}
