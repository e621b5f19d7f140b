public import Names
public import ReachabilityModel

/// Makes checks with real sockets: TCP, ICMP echo, HTTP, TLS and DNS, all on one thread (`checks`).
///
/// Names are resolved by the given ``Resolver`` and by nobody else; the connection goes to an address that it gave and
/// that the request's policy allows. How many checks are under way at once is bounded, all together and for one address;
/// the others wait in line, and what they wait is not taken from the time that the target has.
///
/// It says `unreachable` only where the kernel refused to send: whoever has the engine's verdict may know better, also
/// for a check that is `down` because the way out went away while it was under way.
public final class SocketProber: Prober {
  private let inbox: ProberInbox

  /// Makes a prober that resolves by `resolver`; no thread runs before the first check.
  ///
  /// The ICMP sockets are opened here, so that a process can make the prober, and then give its privileges up.
  public init(resolver: Resolver) {
    inbox = ProberInbox(resolver: resolver)
  }

  deinit { inbox.stop() }

  /// Begins one check, as ``Prober`` promises.
  ///
  /// Refused at once, on the caller's thread: a module that does not fit the target, a target that is no host, a source
  /// that cannot reach the target's family, and everything after ``stop()``.
  @discardableResult
  public func probe(
    _ request: ProbeRequest, _ completion: @escaping @Sendable (ProbeResult) -> Void
  ) -> any ProbeCancellation {
    probe(request, where: { _, _ in .open }, completion)
  }

  /// The same for the addresses to which there is a way, as ``Prober`` promises.
  @discardableResult
  public func probe(
    _ request: ProbeRequest, where passage: @escaping @Sendable (IPAddress, UInt16?) -> Passage,
    _ completion: @escaping @Sendable (ProbeResult) -> Void
  ) -> any ProbeCancellation {
    let id = inbox.nextID()
    if let refusal = RequestRule.refusal(of: request) {
      completion(ProbeResult(.unknown, .cancelled, detail: refusal, startedAt: .now, duration: .zero))
    } else if let failure = inbox.submit(Check(id, request, where: passage, completion)) {
      completion(ProbeResult(.unknown, .cancelled, detail: failure, startedAt: .now, duration: .zero))
    }
    return Cancellation(inbox: inbox, id: id)
  }

  /// Ends what is under way with ``Reason/cancelled`` and then the thread; every later check is cancelled.
  ///
  /// Waits for the thread, except when called on it (from a completion). Called again, it returns at once.
  public func stop() { inbox.stop() }

  private struct Cancellation: ProbeCancellation {
    let inbox: ProberInbox
    let id: UInt64

    func cancel() { inbox.cancel(id) }
  }
}
