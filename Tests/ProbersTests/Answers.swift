import Locks
import HostResolver
import Probers
import ReachabilityModel
import TestSupport

/// Results of checks that were made with completions, and a way to wait for them.
final class Results: Sendable {
  private let list = Locked<[CheckResult]>([])

  var all: [CheckResult] { list.withLock { $0 } }

  var take: @Sendable (CheckResult) -> Void {
    { result in self.list.withLock { $0.append(result) } }
  }

  func wait(for count: Int) async throws -> [CheckResult] {
    try await waitUntil { self.all.count >= count }
    return all
  }
}

/// A prober that asks only `servers` for names.
final class ProberUnderTest: Sendable {
  let resolver: Resolver
  let prober: SocketProber

  init(asking servers: [DNSServer] = []) {
    // Without a server, a port without a listener: these tests never leave this machine.
    resolver = Resolver(
      .init(
        servers: servers.isEmpty ? ["127.0.0.1:9"] : servers.map(\.address), resolvConfPath: "/dev/null"))
    prober = SocketProber(resolver: resolver)
  }

  deinit {
    prober.stop()
    resolver.stop()
  }

  /// Makes one check and waits for its result.
  func check(_ request: CheckRequest) async throws -> CheckResult {
    let results = Results()
    prober.check(request, results.take)
    return try await results.wait(for: 1)[0]
  }

  /// Checks the target of this text, with a generous timeout.
  func check(
    _ text: String, _ options: CheckModule.Options? = nil, timeout: Duration = patience, policy: ContactPolicy? = nil
  ) async throws -> CheckResult {
    try await check(request(text, options, timeout: timeout, policy: policy))
  }
}

/// A request as a test writes it.
func request(
  _ text: String, _ options: CheckModule.Options? = nil, timeout: Duration = patience, policy: ContactPolicy? = nil
) throws -> CheckRequest {
  CheckRequest(
    try CheckTarget(text), module: options.map { CheckModule(name: "test", options: $0, access: .any) },
    timeout: timeout,
    policy: policy)
}
