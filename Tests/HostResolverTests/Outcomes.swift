import HostResolver
import Locks
import TestSupport

typealias Outcome = Result<ResolvedAddresses, HostResolutionFailure>

/// Outcomes of requests that were made with completions, and a way to wait for them.
final class Outcomes: Sendable {
  private let list = Locked<[Outcome]>([])

  var all: [Outcome] { list.withLock { $0 } }

  var take: @Sendable (Outcome) -> Void {
    { outcome in self.list.withLock { $0.append(outcome) } }
  }

  func wait(for count: Int) async throws -> [Outcome] {
    try await waitUntil { self.all.count >= count }
    return all
  }
}
