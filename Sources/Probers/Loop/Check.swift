internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// One check on its way from the request to the result.
///
/// Confined to the prober's thread, to which whoever made it hands it over (``ProberInbox``).
final class Check: @unchecked Sendable {
  /// Where it stands.
  enum Step {
    /// Its turn has not come: too many are asked already.
    case waiting
    /// A limiter has admitted it, and it will continue.
    case admitted
    /// The resolver has its name.
    case resolving
    /// Its name has addresses; the limiter of its protocol is next.
    case resolved
    /// An address is being asked.
    case asking
  }

  let id: UInt64
  let request: CheckRequest
  /// Whether an address may be asked.
  let decision: @Sendable (IPAddress, UInt16?) -> ContactDecision
  let completion: @Sendable (CheckResult) -> Void

  var step = Step.waiting
  /// When its turn came; before that, when it was handed in.
  private(set) var begun: MonotonicInstant
  private(set) var startedAt = Timestamp.now
  /// When the target's time is over.
  private(set) var deadline: MonotonicInstant
  private var hasStarted = false
  /// Since when it waits for a limiter.
  private var waitingSince: MonotonicInstant
  /// When the exchange wants to be woken, nil for never.
  var wakeTime: MonotonicInstant?
  /// Whether its addresses are known and judged.
  var isResolved = false
  /// The address that the limiter counts it for.
  var limitedAddress: IPAddress?
  /// The addresses that may be asked, the next one first.
  var candidates: ArraySlice<Peer> = []
  /// The address that is asked.
  var peer: Peer?
  var source: IPAddress?
  var phases: [CheckResult.Phase] = []
  var evidence = CheckResult.Evidence()
  var exchange: (any Exchange)?
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

  /// It waits for a limiter.
  func enqueue(_ now: MonotonicInstant) {
    step = .waiting
    waitingSince = now
  }

  /// A limiter has admitted it: the target's time starts, or continues without the time of the wait.
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

  /// When its time is over: its timeout does not include the wait for a turn, which has a limit of its own.
  var due: MonotonicInstant { isQueued ? waitingSince.advanced(by: Limits.longestTurn) : deadline }

  /// When it must be looked at again.
  var nextMoment: MonotonicInstant { min(due, wakeTime ?? due) }

  func note(_ phase: CheckResult.Phase.Name, since start: MonotonicInstant, _ now: MonotonicInstant = .now) {
    phases.append(CheckResult.Phase(phase, start.duration(to: now)))
  }

  /// Adds to a phase that there may be several of, one for each redirect.
  func add(_ phase: CheckResult.Phase.Name, _ duration: Duration) {
    if let index = phases.firstIndex(where: { $0.name == phase }) {
      phases[index].duration += duration
    } else {
      phases.append(CheckResult.Phase(phase, duration))
    }
  }

  func result(_ finding: Finding, _ now: MonotonicInstant) -> CheckResult {
    var result = CheckResult(
      finding.state, finding.reason, detail: finding.detail?.withoutControls, startedAt: startedAt,
      duration: begun.duration(to: now))
    // Whoever is denied learns neither what was resolved nor how long that took.
    if finding.reason == .policyDenied {
      result.duration = .zero
      // The answer of the server that redirected: it was contacted.
      result.evidence.http = evidence.http
      return result
    }
    result.address = peer?.address
    result.source = source
    result.phases = phases
    result.evidence = evidence
    return result
  }
}

extension CheckRequest {
  /// The timeout, within what the kernel's clocks can be asked for.
  var boundedTimeout: Duration { min(max(timeout, .milliseconds(1)), Limits.longestTimeout) }

  /// Where a literal address is asked.
  func peer(_ address: IPAddress) -> Peer {
    Peer(address: address, port: target.port ?? 0, scope: address.isLinkLocal && address.family == .ipv6 ? scope : 0)
  }

  private var scope: UInt32 { interface.map { unsafe if_nametoindex($0) } ?? 0 }
}

extension Timestamp {
  /// CLOCK_REALTIME.
  static var now: Timestamp {
    Timestamp(microseconds: SystemClock.realtime / 1_000)
  }
}
