import ReachabilityModel
import Testing

@testable import History

@Suite("Codes of the history never change")
struct CodeTests {
  @Test("Reasons keep their numbers, and every reason has one")
  func reasons() throws {
    let names = [
      "noRoute", "unreachableRoute", "blackhole", "prohibited", "linkDown", "noSource", "connectionRequired",
      "interventionRequired", "unknownInterface", "dnsNotFound", "dnsServerFailure", "dnsTimeout",
      "resolverUnavailable", "starting", "kernelUnavailable", "networkUnreachable", "hostUnreachable", "refused",
      "connectTimeout", "reset", "tlsHandshake", "certificateExpired", "certificateUntrusted",
      "certificateNameMismatch", "httpStatus", "httpBody", "noReply", "packetLoss", "slow", "timeout", "policyDenied",
      "descriptorLimit", "cancelled", "bodyTooLong", "notRegistered", "noMembers", "tooManyMembers", "machine",
      "missing",
      "settling",
    ]
    #expect(ReasonCode.table.prefix(names.count).map(\.rawValue) == names)
    for (index, name) in names.enumerated() {
      #expect(ReasonCode(Reason(rawValue: name))?.rawValue == UInt16(index + 1))
    }
    #expect(ReasonCode(rawValue: 9999).reason == nil)
  }

  @Test("Causes keep their bits, and every cause has one")
  func causes() {
    let names = [
      "linkUp", "linkDown", "carrierGained", "carrierLost", "addressAdded", "addressRemoved", "routeAdded",
      "routeRemoved", "routeReplaced", "routeExpired", "ruleChanged", "nexthopChanged", "neighbourChanged",
      "dnsChanged", "resync", "resume", "configuration", "check", "restart", "renamed",
    ]
    #expect(StoredCauses.table.prefix(names.count).map(\.rawValue) == names)
    #expect(Set(Cause.inOrder).isSubset(of: StoredCauses.table))
    #expect(StoredCauses([.check, .linkUp]).causes == [.linkUp, .check])
  }

  @Test("States, types and flags keep their numbers")
  func states() {
    let states = StateCode.allCases.map { "\($0.rawValue) \($0)" }
    #expect(
      states == [
        "0 none", "1 unknown", "2 notReachable", "3 reachable", "4 reachableWWAN", "10 interfaceUsable",
        "11 interfaceDormant", "12 interfaceLinkDown", "13 interfaceAdminDown", "14 interfaceRemoved", "20 targetUp",
        "21 targetDown", "22 targetUnreachable", "23 targetUnknown", "24 targetPaused", "25 targetRemoved",
        "30 serviceRunning", "31 serviceStopped", "40 gateOpen", "41 gateClosed", "42 gateRemoved",
      ])
    #expect(
      EventType.allCases.map { "\($0.rawValue) \($0)" } == [
        "0 status", "1 path", "2 interface", "3 target", "4 service", "5 gate",
      ])
    #expect([TransitionFlags.initial, .removed, .flapping, .unclean].map(\.rawValue) == [1, 2, 4, 8])
  }
}
