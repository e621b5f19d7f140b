import CNetlink
import Glibc
import ReachabilityModel
import Testing

@testable import Netlink

/// The answers of kernels that refuse `RTM_F_FIB_MATCH` with EOPNOTSUPP, or have no routes of a family.
@Suite struct NetlinkPlainAnswerTests {
  private func lookup(
    interface: UInt32? = nil, match: Int32 = EOPNOTSUPP, _ plain: NetlinkRouteLookup.Answer, hasErrorTexts: Bool = false
  ) -> NetlinkRouteLookup {
    let query = RouteQuery("192.0.2.1", interfaceIndex: interface)
    var lookup = NetlinkRouteLookup(query: query)
    lookup.hasErrorTexts = hasErrorTexts
    lookup.match = .refused(NetlinkAck(errno: match, text: nil))
    lookup.plain = plain
    return lookup
  }

  private func route(_ interface: UInt32) -> NetlinkRouteLookup.Answer {
    .route(
      NetlinkRouteMessage(
        route: Route(prefix: "192.0.2.1/32", hops: [.init(interfaceIndex: interface, gateway: "10.0.0.1")]),
        nexthopObject: nil))
  }

  private func refused(_ code: Int32, text: String? = nil) -> NetlinkRouteLookup.Answer {
    .refused(NetlinkAck(errno: code, text: text))
  }

  @Test func plainAnswerCountsIfTheOtherIsNotKnown() {
    let lookup = lookup(route(2))
    #expect(lookup.isRouteUnknown)
    #expect(lookup.answer.route?.hops == [.init(interfaceIndex: 2, gateway: "10.0.0.1")])
    // Its block is not known.
    #expect(lookup.answer.route?.selectsByDestination == true)
  }

  @Test func interfaceOfTheQueryIsCompared() {
    #expect(lookup(interface: 2, route(2)).answer.route != nil)
    #expect(lookup(interface: 3, route(2)).answer == .refused(.noRoute))
  }

  @Test(arguments: [
    (EOPNOTSUPP, RouteAnswer.Refusal.noRoute), (ENETUNREACH, .noRoute), (EHOSTUNREACH, .unreachable),
    (EACCES, .prohibited), (EINVAL, .failed(errno: EINVAL)), (EPERM, .failed(errno: EPERM)),
  ])
  func refusalOfThePlainLookupCounts(code: Int32, refusal: RouteAnswer.Refusal) {
    let lookup = lookup(refused(code))
    #expect(lookup.answer == .refused(refusal) && !lookup.isRouteUnknown)
  }

  @Test func invalidArgumentIsABlackholeOnlyWithTexts() {
    #expect(lookup(match: EINVAL, refused(EINVAL), hasErrorTexts: true).answer == .refused(.blackhole))
    #expect(lookup(match: EINVAL, refused(EINVAL)).answer == .refused(.failed(errno: EINVAL)))
  }

  @Test func otherRefusalsOfTheMatchStayFinal() {
    for code in [ENETUNREACH, EACCES, EPERM] {
      let lookup = lookup(match: code, route(2))
      #expect(lookup.answer.route == nil && !lookup.isRouteUnknown)
    }
  }
}
