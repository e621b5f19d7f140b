import EventLoop
import Glibc
import HostResolver
import TestSupport
import Testing

/// A process that may open no more files.
@Suite struct DescriptorTests {
  @Test func aMissingDescriptorIsASystemFailure() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let outcomes = Outcomes()
    namespace.run {
      var taken: [Int32] = []
      while case let file = dup(0), file >= 0 { taken.append(file) }
      for free in 0..<2 {
        if free > 0, let file = taken.popLast() { close(file) }
        let resolver = Resolver()
        resolver.resolve("host.test", timeout: .seconds(5), outcomes.take)
        resolver.stop()
      }
      for file in taken { close(file) }
    }
    #expect(
      outcomes.all == [
        .failure(.systemFailure(EventLoopError(operation: "eventfd", errno: EMFILE))),
        .failure(.systemFailure(EventLoopError(operation: "epoll_create1", errno: EMFILE))),
      ])
  }
}
