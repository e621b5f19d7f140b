import Locks
import Names
import Probes
import ReachabilityModel
import TestSupport

/// Results of checks that were made with completions, and a way to wait for them.
final class Results: Sendable {
  private let list = Locked<[ProbeResult]>([])

  var all: [ProbeResult] { list.withLock { $0 } }

  var take: @Sendable (ProbeResult) -> Void {
    { result in self.list.withLock { $0.append(result) } }
  }

  func wait(for count: Int) async throws -> [ProbeResult] {
    try await eventually { self.all.count >= count }
    return all
  }
}

/// A prober that asks only `servers` for names.
final class ProberUnderTest: Sendable {
  let resolver: Resolver
  let prober: SocketProber

  init(asking servers: [DNSServer] = []) {
    // Without a server, one that nobody listens at: these tests never leave this machine.
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
  func check(_ request: ProbeRequest) async throws -> ProbeResult {
    let results = Results()
    prober.probe(request, results.take)
    return try await results.wait(for: 1)[0]
  }

  /// Checks what the text says, with all the time in the world.
  func check(
    _ text: String, _ recipe: ProbeModule.Recipe? = nil, timeout: Duration = patience, policy: ContactPolicy? = nil
  ) async throws -> ProbeResult {
    try await check(request(text, recipe, timeout: timeout, policy: policy))
  }
}

/// A request as a test writes it.
func request(
  _ text: String, _ recipe: ProbeModule.Recipe? = nil, timeout: Duration = patience, policy: ContactPolicy? = nil
) throws -> ProbeRequest {
  ProbeRequest(
    try ProbeTarget(text), module: recipe.map { ProbeModule(name: "test", recipe: $0, access: .any) }, timeout: timeout,
    policy: policy)
}
