internal import Glibc
internal import Locks
public import HostResolver
public import ReachabilityModel

/// Performs checks with real sockets: TCP, HTTP, TLS and DNS on one thread (`checks`), ICMP echo on one or two threads
/// of its own (`echoes`).
///
/// The given ``Resolver`` resolves all names; the connection is made to an address that it returned and that the
/// request's policy allows. The number of concurrent checks is limited, in total and per address. The others wait in a
/// queue, and the wait is not part of the target's time.
///
/// It reports `unreachable` only where the kernel refused to send. A caller with the engine's verdict may know more,
/// including for a check that is `down` because the local route was lost during the check.
public final class SocketProber: SelectiveProber {
  private let checks: ProberInbox
  private let echoes: [ProberInbox]
  private let isStopped = Locked(false)

  /// Makes a prober that uses `resolver`; no thread runs before the first check.
  ///
  /// The ICMP sockets are opened here, so that a process can make the prober and then drop its privileges.
  public init(resolver: Resolver) {
    checks = ProberInbox("checks", resolver: resolver, opensEchoSockets: false)
    echoes = (0..<min(Limits.echoThreads, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))).map { _ in
      ProberInbox("echoes", resolver: resolver, opensEchoSockets: true)
    }
  }

  deinit { stop() }

  /// The inbox of the thread for a check; the same for all checks of one kind to one host, because it has the limiter.
  private func inbox(_ target: CheckTarget) -> ProberInbox {
    guard target.scheme == .icmp else { return checks }
    return echoes[Int(UInt(bitPattern: target.host.hashValue) % UInt(echoes.count))]
  }

  /// Starts one check, as ``Prober`` specifies.
  ///
  /// Refused immediately, on the caller's thread: a module that does not fit the target, a target that is not a host, a
  /// source that cannot reach the target's family, and everything after ``stop()``.
  @discardableResult
  public func check(
    _ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    check(request, where: { _, _ in .allowed }, completion)
  }

  /// Starts one check of the addresses that are permitted, as ``SelectiveProber`` specifies.
  @discardableResult
  package func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    let inbox = inbox(request.target)
    let id = inbox.nextID()
    if let refusal = ProberRequestValidation.refusal(of: request) {
      completion(CheckResult(.unknown, .cancelled, detail: refusal, startedAt: .now, duration: .zero))
    } else if let failure = inbox.submit(ProberCheck(id, request, where: decision, completion)) {
      completion(CheckResult(.unknown, .cancelled, detail: failure, startedAt: .now, duration: .zero))
    }
    return Cancellation(inbox: inbox, id: id)
  }

  /// Makes a timer that calls `body` on the thread of all checks but ICMP, which starts with the first call of
  /// ``ProberTimer/fire(after:)`` at the latest; the body must not block.
  package func makeTimer(_ body: @escaping @Sendable () -> Void) -> ProberTimer { ProberTimer(checks, body) }

  /// Ends running checks with ``Reason/cancelled`` and then the threads; every later check is cancelled.
  ///
  /// Waits for the threads, except for the one that it is called on (from a completion). A second call returns
  /// immediately.
  public func stop() {
    // Two completions on different threads that both wait for the threads would wait for each other.
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    for inbox in [checks] + echoes { inbox.stop() }
  }

  private struct Cancellation: CheckCancellation {
    let inbox: ProberInbox
    let id: UInt64

    func cancel() { inbox.cancel(id) }
  }
}
