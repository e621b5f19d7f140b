import Glibc
import ReachabilityModel
import Testing

@testable import Probers

@Suite struct ProberSocketCapacityTests {
  @Test(arguments: [
    (64, 1), (256, 1), (259, 1), (262, 2), (300, 14), (1_024, 256), (3_327, 1_023), (3_328, 1_024), (1 << 20, 1_024),
  ])
  func threeProbersLeaveTheReserve(limit: Int, capacity: Int) {
    #expect(ProberSocketCapacity.of(descriptorLimit: limit) == capacity)
  }

  @Test(arguments: [(EMFILE, "LimitNOFILE="), (EMFILE, "ulimit -n"), (ENFILE, "fs.file-max")])
  func aRefusedDescriptorSaysWhatToRaise(code: Int32, advice: String) {
    let finding = SocketFailure.immediate(code).finding
    #expect(finding.state == .unknown && finding.reason == .descriptorLimit)
    #expect(finding.detail?.contains(advice) == true)
  }

  @Test func otherShortagesAreNoDescriptorLimit() {
    #expect(SocketFailure.immediate(ENOBUFS).finding.reason == .cancelled)
  }
}
