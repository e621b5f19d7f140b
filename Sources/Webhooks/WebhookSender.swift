internal import Locks
internal import ReachabilityChecks

/// Sends requests, and cancels them; one at a time for each webhook.
final class WebhookSender: Sendable {
  private let checker: Checker
  private let policy: @Sendable () -> ContactPolicy
  private let clock: any CheckClock
  private let cancellations = Locked<[String: (number: Int, request: any CheckCancellation)]>([:])

  init(_ checker: Checker, _ policy: @escaping @Sendable () -> ContactPolicy, _ clock: any CheckClock) {
    self.checker = checker
    self.policy = policy
    self.clock = clock
  }

  /// Sends a message; `completion` receives the result exactly once, on any thread.
  func send(
    _ message: WebhookMessage, to webhook: WebhookDefinition, _ number: Int,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) {
    guard let request = WebhookRequest.make(message, for: webhook, at: clock.time, policy()) else {
      return completion(
        CheckResult(.unknown, detail: "the message cannot be signed", startedAt: clock.time, duration: .zero))
    }
    let cancellation = checker.check(request) { completion($0.result) }
    // It may have ended already; cancelling it has no effect then.
    cancellations.withLock { $0[webhook.id] = (number, cancellation) }
  }

  /// Cancels the request with this number, if it is in progress.
  func cancel(_ id: String, _ number: Int) {
    let found = cancellations.withLock { $0[id] }
    if let found, found.number == number { found.request.cancel() }
  }

  /// Cancels all requests.
  func stop() {
    for found in cancellations.withLock({ Array($0.values) }) { found.request.cancel() }
  }
}
