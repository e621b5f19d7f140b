internal import Glibc
internal import Locks
public import HostResolver
public import ReachabilityModel

/// Makes checks with real sockets: TCP, HTTP, TLS and DNS on one thread (`checks`), ICMP echo on one or two of its own
/// (`echoes`).
///
/// Names are resolved by the given ``Resolver`` and by nobody else; the connection goes to an address that it gave and
/// that the request's policy allows. How many checks are under way at once is bounded, all together and for one address;
/// the others wait in line, and what they wait is not taken from the time that the target has.
///
/// It says `unreachable` only where the kernel refused to send: whoever has the engine's verdict may know better, also
/// for a check that is `down` because the way out went away while it was under way.
public final class SocketProber: Prober {
  private let checks: ProberInbox
  private let echoes: [ProberInbox]
  private let isStopped = Locked(false)

  /// Makes a prober that resolves by `resolver`; no thread runs before the first check.
  ///
  /// The ICMP sockets are opened here, so that a process can make the prober, and then give its privileges up.
  public init(resolver: Resolver) {
    checks = ProberInbox("checks", resolver: resolver, opensEchoSockets: false)
    echoes = (0..<min(Limits.echoThreads, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))).map { _ in
      ProberInbox("echoes", resolver: resolver, opensEchoSockets: true)
    }
  }

  deinit { stop() }

  /// The thread for a check; the same for all of one kind to one host, because the limiter is there.
  private func inbox(_ target: CheckTarget) -> ProberInbox {
    guard target.scheme == .icmp else { return checks }
    return echoes[Int(UInt(bitPattern: target.host.hashValue) % UInt(echoes.count))]
  }

  /// Begins one check, as ``Prober`` promises.
  ///
  /// Refused at once, on the caller's thread: a module that does not fit the target, a target that is no host, a source
  /// that cannot reach the target's family, and everything after ``stop()``.
  @discardableResult
  public func check(
    _ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    check(request, where: { _, _ in .allowed }, completion)
  }

  /// The same for the addresses to which there is a way, as ``Prober`` promises.
  @discardableResult
  public func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    let inbox = inbox(request.target)
    let id = inbox.nextID()
    if let refusal = RequestValidation.refusal(of: request) {
      completion(CheckResult(.unknown, .cancelled, detail: refusal, startedAt: .now, duration: .zero))
    } else if let failure = inbox.submit(Check(id, request, where: decision, completion)) {
      completion(CheckResult(.unknown, .cancelled, detail: failure, startedAt: .now, duration: .zero))
    }
    return Cancellation(inbox: inbox, id: id)
  }

  /// Ends what is under way with ``Reason/cancelled`` and then the threads; every later check is cancelled.
  ///
  /// Waits for the threads, except for the one that it is called on (from a completion). Called again, it returns at once.
  public func stop() {
    // Completions on two of the threads that both stop would wait for each other's.
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
