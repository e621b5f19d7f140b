import ReachabilityModel
import Testing

@testable import History

@Suite("Stored states")
struct StoredStateTests {
  private var interface: Interface {
    var interface = Interface(
      index: 7, name: "wwan0", type: .wwan, flags: [.up, .running], operationalState: .up, mtu: 1400, lowerIndex: 3,
      kind: "vlan", hardwareType: 65_534)
    interface.isConstrained = true
    interface.hasDeclaredCost = true
    return interface
  }

  @Test("The machine's state returns as it was stored")
  func machine() {
    var path = NetworkPath(flags: [.reachable, .isWWAN], reason: .linkDown)
    path.interface = NetworkPath.InterfaceReference(interface)
    path.gateway = IPAddress("10.0.0.1")
    path.source = IPAddress("fe80::1")
    let state = MachineStateRecord(
      machine: MachinePath(ipv4: path, ipv6: .unknown(.starting)), since: Timestamp(microseconds: 12))
    #expect(MachineStateRecord(state.bytes) == state)
    // A damaged or future form is no state, and no trap.
    for count in 0..<state.bytes.count { #expect(MachineStateRecord(Array(state.bytes.prefix(count))) == nil) }
    #expect(MachineStateRecord([2] + state.bytes.dropFirst()) == nil)
  }

  @Test("An interface returns as it was stored")
  func interfaces() {
    let addresses = [IPPrefix(IPAddress(ipv4: 0x0A01_0203), length: 24)]
    let state = InterfaceState(interface: interface, addresses: addresses)
    #expect(InterfaceState(storedBytes: state.storedBytes) == state)
    for count in 0..<state.storedBytes.count {
      #expect(InterfaceState(storedBytes: Array(state.storedBytes.prefix(count))) == nil)
    }
  }

  @Test("A target's status returns as it was stored", arguments: [nil, true, false] as [Bool?])
  func target(_ pause: Bool?) {
    let status = TargetStatus.Restorable(
      state: .down, reason: .refused, since: Timestamp(microseconds: -5), consecutiveFailures: 4, flapBits: 0b1010,
      wasUp: false, isFlapping: true)
    let state = StoredTargetState(status: status, changes: 9, isPausedByConfiguration: pause)
    #expect(StoredTargetState(state.bytes) == state)
    #expect(TargetStatus(restoring: status).restorable == status)
  }
}
