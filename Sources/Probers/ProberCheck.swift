internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// One check, from the request to the result.
///
/// Confined to the prober's thread, to which the caller passes it (``ProberInbox``).
final class ProberCheck: @unchecked Sendable {
  enum Step {
    /// It is in the queue of a limiter, because the limit is reached.
    case waiting
    /// A limiter has admitted it, and it will continue.
    case admitted
    /// The resolver is resolving its name.
    case resolving
    /// Its name has addresses; the limiter of its protocol is next.
    case resolved
    /// An exchange with an address is running.
    case asking
    /// The checks of its addresses are running.
    case gathering
  }

  let id: UInt64
  let request: CheckRequest
  let decision: @Sendable (IPAddress, UInt16?) -> ContactDecision
  let completion: @Sendable (CheckResult) -> Void

  var step = Step.waiting
  /// When a limiter admitted it; before that, when it was submitted.
  private(set) var begun: MonotonicInstant
  private(set) var startedAt = Timestamp.now
  /// The end of the target's time.
  private(set) var deadline: MonotonicInstant
  private var hasStarted = false
  /// When it joined the queue of a limiter.
  private var waitingSince: MonotonicInstant
  /// When the exchange must be called; nil for never.
  var wakeTime: MonotonicInstant?
  /// Whether its addresses are known and authorized.
  var isResolved = false
  /// Whether the limiter has granted a slot for ``limitedAddress`` that no attempt has taken.
  var hasSlot = false
  /// The address for which it waits.
  var limitedAddress: IPAddress?
  /// The addresses that may be contacted, in the resolver's order.
  var candidates: [SocketPeer] = []
  /// Addresses without a route that are part of the result nevertheless.
  var unroutedPeers: [SocketPeer] = []
  /// The checks of its addresses, if all are checked.
  var group: AddressGroup?
  /// The check of all addresses that this one is a part of.
  var parent: ProberCheck?
  var peer: SocketPeer?
  var source: IPAddress?
  var phases: [CheckResult.Phase] = []
  var evidence = CheckResult.Evidence()
  var exchange: (any ProberExchange)?
  var resolution: Resolver.Cancellation?

  init(
    _ id: UInt64, _ request: CheckRequest,
    where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision = { _, _ in .allowed },
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) {
    let now = MonotonicInstant.now
    self.decision = decision
    self.id = id
    self.request = request
    self.completion = completion
    begun = now
    waitingSince = now
    deadline = now.advanced(by: request.boundedTimeout)
  }

  /// Records that it waits for a limiter.
  func enqueue(_ now: MonotonicInstant) {
    step = .waiting
    waitingSince = now
  }

  /// Records that a limiter has admitted it: the target's time starts, or continues without the wait.
  func enter(_ step: Step, _ now: MonotonicInstant) {
    if !hasStarted {
      hasStarted = true
      begun = now
      startedAt = .now
      deadline = now.advanced(by: request.boundedTimeout)
    } else if isQueued {
      begun = begun.advanced(by: waitingSince.duration(to: now))
      deadline = deadline.advanced(by: waitingSince.duration(to: now))
    }
    self.step = step
  }

  private var isQueued: Bool { step == .waiting || step == .admitted }

  /// Adds time in which the prober did not run.
  func compensateForStall(_ lost: Duration) {
    waitingSince = waitingSince.advanced(by: lost)
    deadline = deadline.advanced(by: lost)
  }

  /// When it expires: its timeout excludes the wait in a queue, which has a limit of its own.
  var due: MonotonicInstant { isQueued ? waitingSince.advanced(by: Limits.longestTurn) : deadline }

  /// When its timer must fire.
  var nextMoment: MonotonicInstant { min(due, wakeTime ?? due) }

  func note(_ phase: CheckResult.Phase.Name, since start: MonotonicInstant, _ now: MonotonicInstant = .now) {
    phases.append(CheckResult.Phase(phase, start.duration(to: now)))
  }

  /// Adds to a phase that can occur several times, once for each redirect.
  func add(_ phase: CheckResult.Phase.Name, _ duration: Duration) {
    if let index = phases.firstIndex(where: { $0.name == phase }) {
      phases[index].duration += duration
    } else {
      phases.append(CheckResult.Phase(phase, duration))
    }
  }

  func result(_ finding: ProberResult, _ now: MonotonicInstant) -> CheckResult {
    var result = CheckResult(
      finding.state, finding.reason, detail: finding.detail?.withoutControls, startedAt: startedAt,
      duration: begun.duration(to: now))
    // A client that is denied must not learn what was resolved or how long that took.
    if finding.reason == .policyDenied {
      result.duration = .zero
      // The answer of the redirecting server, which was contacted.
      result.evidence.http = evidence.http
      return result
    }
    result.address = peer?.address
    result.source = source
    result.phases = phases
    result.evidence = evidence
    // The address that answered is judged by the rest of the check.
    if finding.state != .up, let last = evidence.attempts.lastIndex(where: { $0.state == .up }),
      evidence.attempts[last].address == result.address
    {
      result.evidence.attempts[last].state = finding.state
      result.evidence.attempts[last].reason = finding.reason
    }
    return result
  }
}

extension CheckRequest {
  /// The timeout, limited to values that the kernel's clocks support.
  var boundedTimeout: Duration { min(max(timeout, .milliseconds(1)), Limits.longestTimeout) }

  func peer(_ address: IPAddress) -> SocketPeer {
    SocketPeer(
      address: address, port: target.port ?? 0, scope: address.isLinkLocal && address.family == .ipv6 ? scope : 0)
  }

  private var scope: UInt32 { interface.map { unsafe if_nametoindex($0) } ?? 0 }
}

extension Timestamp {
  /// CLOCK_REALTIME.
  static var now: Timestamp {
    Timestamp(microseconds: SystemClock.realtime / 1_000)
  }
}
