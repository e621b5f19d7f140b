import EventLoop
import Glibc
import HostResolver
import ReachabilityModel
import Testing

@testable import Probers

@Suite struct ResolutionTests {
  @Test func aResolverThatCannotStartIsNoDNSFailure() throws {
    let error = EventLoopError(operation: "eventfd", errno: EMFILE)
    let result = ProberLoop.peers(.failure(.systemFailure(error)), try request("tcp://host.test:1"))
    guard case .failure(let finding) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(finding.state == .unknown)
    #expect(finding.reason == .resolverUnavailable)
    #expect(finding.detail == "eventfd: Too many open files")
  }
}
