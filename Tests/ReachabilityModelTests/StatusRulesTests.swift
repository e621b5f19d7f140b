import ReachabilityModel
import Testing

@Suite("From the kernel's answer to a verdict over one address")
struct StatusRulesTests {
  static let interfaces: [Interface] = [
    .loopback(), .sample(2, "eth0"), .sample(3, "eth1"), .sample(4, "wwan0", .wwan),
    .sample(5, "tun0", .tunnel, flags: [.up, .running, .lowerUp, .pointToPoint], state: .unknown),
    .sample(6, "ppp0", .ppp),
    .sample(7, "wlan0", .wifi),
  ]
  let tables = KernelTables(interfaces: Self.interfaces)

  func evaluate(_ route: Route, _ destination: String = "10.9.9.9", from source: String? = nil) throws -> NetworkPath {
    let query = RouteQuery(try ip(destination), source: try source.map { try ip($0) })
    return StatusRules.evaluate(.route(route), to: query, in: tables)
  }

  /// The verdict when the route's only interface is as given.
  func evaluate(_ type: InterfaceType, _ flags: Interface.Flags, _ state: Interface.OperationalState) throws
    -> NetworkPath
  {
    let tables = KernelTables(interfaces: [.sample(2, "dev0", type, flags: flags, state: state)])
    let answer = RouteAnswer.route(try .byDefault(via: "10.0.0.1"))
    return StatusRules.evaluate(answer, to: RouteQuery(try ip("10.9.9.9")), in: tables)
  }

  @Test("The kernel's refusals keep their reason; a question that failed is no verdict")
  func refusals() throws {
    let rows: [(RouteAnswer.Refusal, ReachabilityStatus, Reason)] = [
      (.noRoute, .notReachable, .noRoute), (.unreachable, .notReachable, .unreachableRoute),
      (.blackhole, .notReachable, .blackhole), (.prohibited, .notReachable, .prohibited),
      (.failed(errno: 12), .unknown, .kernelUnavailable),
    ]
    for (refusal, status, reason) in rows {
      for subject in [StatusRules.Subject.address, .defaultPath] {
        let path = StatusRules.evaluate(.refused(refusal), to: RouteQuery(try ip("10.9.9.9")), as: subject, in: tables)
        #expect(path.status == status && path.reason == reason && path.flags.isEmpty, "\(refusal)")
      }
    }
  }

  @Test("Route types that refuse keep their reason, and unknown types are no route")
  func routeTypes() throws {
    let rows: [(RouteType, Reason)] = [
      (.blackhole, .blackhole), (.unreachable, .unreachableRoute), (.prohibit, .prohibited),
      (RouteType(rawValue: 9), .noRoute), (RouteType(rawValue: 0), .noRoute), (RouteType(rawValue: 255), .noRoute),
    ]
    for (type, reason) in rows {
      var route = try Route.byDefault(via: "10.0.0.1")
      route.type = type
      #expect(try evaluate(route) == .none(reason), "\(type.name)")
    }
    #expect(RouteType(rawValue: 0).name == "type-0" && RouteType(rawValue: 9).name == "type-9")
    #expect(
      (1...8).map { RouteType(rawValue: $0).name }.joined(separator: " ")
        == "unicast local broadcast anycast multicast blackhole unreachable prohibit")
  }

  @Test("E4-3 off-link is reachable through its router, on-link is direct")
  func directness() throws {
    let offLink = try evaluate(.byDefault(via: "10.0.0.1"))
    #expect(offLink.flags == .reachable)
    #expect(offLink.reason == nil)
    #expect(offLink.interface?.name == "eth0" && offLink.interface?.index == 2 && offLink.interface?.type == .ethernet)
    #expect(try offLink.gateway == ip("10.0.0.1") && offLink.source == ip("10.0.0.5"))
    #expect(offLink.prefix?.description == "0.0.0.0/0" && offLink.routeType == .unicast)
    let onLink = try evaluate(.onLink("10.9.9.0/24"))
    #expect(onLink.flags == [.reachable, .isDirect])
    #expect(onLink.gateway == nil)
  }

  @Test("An IPv4 route over an IPv6 router is not direct")
  func viaOtherFamily() throws {
    var route = try Route.onLink("0.0.0.0/0")
    route.hops = [.init(interfaceIndex: 2, gateway: try ip("fe80::1"))]
    #expect(try evaluate(route).flags == .reachable)
    #expect(try evaluate(route).gateway == ip("fe80::1"))
  }

  @Test("Nothing is direct over a point-to-point device, nor when one leg has a router")
  func notDirect() throws {
    #expect(try evaluate(.onLink("10.9.9.0/24", on: 5)).flags == [.reachable, .transientConnection])
    var route = try Route.onLink("10.9.9.0/24")
    route.hops.append(.init(interfaceIndex: 3, gateway: try ip("10.0.1.1")))
    #expect(try evaluate(route).flags == .reachable)
  }

  @Test("E4-3 an own address is local, and direct unless it sits on the loopback device")
  func local() throws {
    var route = try Route.onLink("10.0.0.5/32")
    route.type = .local
    #expect(try evaluate(route, "10.0.0.5").flags == [.reachable, .isLocalAddress, .isDirect])
    route.hops = [.init(interfaceIndex: 1)]
    #expect(try evaluate(route, "10.0.0.5").flags == [.reachable, .isLocalAddress])
    route.hops = []
    #expect(try evaluate(route, "10.0.0.5").flags == [.reachable, .isLocalAddress])
  }

  @Test("An own address stays reachable when its device is off, but not when the loopback device is")
  func weakHostModel() throws {
    var route = try Route.onLink("10.0.0.5/32")
    route.type = .local
    let query = RouteQuery(try ip("10.0.0.5"))
    let off = Interface.sample(2, "eth0", flags: [], state: .down)
    let withLoopback = KernelTables(interfaces: [.loopback(), off])
    #expect(StatusRules.evaluate(.route(route), to: query, in: withLoopback).status.isReachable)
    for others in [[off], [off, .loopback(on: false)], [.sample(2, "eth0")]] {
      let path = StatusRules.evaluate(.route(route), to: query, in: KernelTables(interfaces: others))
      #expect(path == .none(.noRoute))
    }
  }

  @Test("No connection can be made to a broadcast or multicast address; an anycast address is this machine's own")
  func groups() throws {
    for (type, own) in [(RouteType.broadcast, false), (.multicast, false), (.anycast, true)] {
      var route = try Route.onLink("10.0.0.255/32")
      route.type = type
      let path = try evaluate(route, "10.0.0.255")
      #expect(path.flags == (own ? [.reachable, .isDirect, .isLocalAddress] : []), "\(type.name)")
      #expect(path.reason?.rawValue == (own ? nil : "notUnicast") && path.routeType == type)
      let query = RouteQuery(try ip("0.0.0.1"))
      #expect(StatusRules.evaluate(.route(route), to: query, as: .defaultPath, in: tables) == .none(.noRoute))
    }
  }

  @Test("PPP, cellular, tunnels and point-to-point devices are transient, others are not")
  func transient() throws {
    let rows: [(UInt32, ReachabilityFlags)] = [
      (2, []), (7, []), (4, [.transientConnection, .isWWAN]), (5, .transientConnection), (6, .transientConnection),
    ]
    for (index, extra) in rows {
      let path = try evaluate(.byDefault(via: "10.0.0.1", on: index))
      #expect(path.flags == extra.union(.reachable), "interface \(index)")
    }
    let pointToPoint = try evaluate(.other, [.up, .lowerUp, .pointToPoint], .up)
    #expect(pointToPoint.flags == [.reachable, .transientConnection])
  }

  @Test("A switched-off interface is no route, whatever its state says")
  func adminDown() throws {
    for state in Interface.OperationalState.allCases {
      #expect(try evaluate(.ethernet, [.running, .lowerUp], state) == .none(.noRoute), "\(state)")
    }
  }

  @Test(
    "An interface that is on passes packets by its operational state",
    arguments: [
      (.up, true), (.unknown, true), (.notPresent, false), (.down, false), (.lowerLayerDown, false), (.testing, false),
    ] as [(Interface.OperationalState, Bool)])
  func operationalStates(_ state: Interface.OperationalState, _ usable: Bool) throws {
    let path = try evaluate(.ethernet, [.up, .running, .lowerUp], state)
    #expect(path.status.isReachable == usable)
    #expect(path.reason == (usable ? nil : .linkDown))
    // The route is still shown: it is what the reader wants to know.
    #expect(path.interface?.name == "dev0" && path.prefix != nil)
  }

  @Test("A state of unknown needs a carrier or the running flag")
  func unknownState() throws {
    #expect(try evaluate(.tunnel, .up, .unknown).reason == .linkDown)
    #expect(try evaluate(.tunnel, [.up, .running], .unknown).status.isReachable)
    #expect(try evaluate(.tunnel, [.up, .lowerUp], .unknown).status.isReachable)
  }

  @Test("A leg that the kernel marks as without carrier is down, though the interface looks well")
  func legDown() throws {
    let path = try evaluate(.byDefault(via: "10.0.0.1", linkDown: true))
    #expect(path.status == .notReachable && path.reason == .linkDown && path.flags.isEmpty)
  }

  @Test("A dormant interface needs a connection first; a dormant dial-up link makes it by itself")
  func dormant() throws {
    let authentication = try evaluate(.ethernet, [.up, .lowerUp, .dormant], .dormant)
    #expect(authentication.flags == [.reachable, .connectionRequired, .transientConnection])
    #expect(authentication.status == .notReachable && authentication.reason == .connectionRequired)
    let dialUp = try evaluate(.ppp, [.up, .dormant], .dormant)
    #expect(dialUp.flags == [.reachable, .connectionRequired, .transientConnection, .connectionOnTraffic])
    #expect(dialUp.status == .reachable(.ethernetOrWiFi) && dialUp.reason == nil)
    #expect(try evaluate(.wwan, [.up], .dormant).flags.contains(.isWWAN))
  }

  @Test("The cellular flag is kept when the link is down or has no source")
  func cellularKept() throws {
    let down = try evaluate(.wwan, [.up], .down)
    #expect(down.flags == .isWWAN && down.status == .notReachable && down.reason == .linkDown)
    let noSource = try evaluate(.byDefault(via: "10.0.0.1", on: 4, source: nil))
    #expect(noSource.flags == .isWWAN && noSource.reason == .noSource)
  }
}
