internal import EventLoop
internal import ReachabilityModel

/// Contacts the addresses of a host until the first one answers, as ``AddressAttempts`` decides.
///
/// Confined to the prober's thread. Each attempt has a slot of the limiter from its start to its end. An attempt beside a running
/// one takes a slot only if one is free; without a running one, the check waits in the queue.
final class AddressConnector {
  /// An attempt that runs, and the place of its address.
  private struct Running {
    let index: Int
    let attempt: any AddressAttempt
    let begun: MonotonicInstant
  }

  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private unowned let owner: any AddressConnectorOwner
  private let peers: [SocketPeer]
  private var attempts: AddressAttempts
  private var running: [Running] = []
  private var failures: [Int: ProberResult] = [:]
  /// The evidence about each address that was contacted, in the order of the attempts.
  private var records: [CheckResult.Attempt] = []
  /// The index of the address that has answered.
  private var winner: Int?
  private var isAdvancing = false
  private var hasEnded = false
  /// When the first attempt began, which is the begin of the phase `connect`.
  private(set) var begun = MonotonicInstant.now

  init(_ check: ProberCheck, _ peers: [SocketPeer], _ loop: ProberLoop, for owner: any AddressConnectorOwner) {
    self.check = check
    self.peers = peers
    self.loop = loop
    self.owner = owner
    attempts = AddressAttempts(count: peers.count, within: loop.now.duration(to: check.deadline))
  }

  /// Starts the first attempt.
  func begin() {
    begun = .now
    check.peer = peers.first
    advance()
  }

  /// Continues after the limiter has admitted the check.
  func resume() { advance() }

  /// Calls the attempts whose time has come, and starts the next one.
  func awake() {
    for entry in running {
      guard let time = entry.attempt.wakeTime, time <= loop.now else { continue }
      entry.attempt.wakeTime = nil
      entry.attempt.awake()
      if hasEnded { return }
    }
    advance()
  }

  /// Called by an attempt that changed its wake time.
  func wake(_ attempt: any AddressAttempt, at moment: MonotonicInstant?) {
    attempt.wakeTime = moment
    if !isAdvancing { setWakeTime() }
  }

  /// Called by an attempt whose address has answered: the other attempts end.
  func succeeded(_ attempt: any AddressAttempt) {
    guard winner == nil, !hasEnded, let place = running.firstIndex(where: { $0.attempt === attempt }) else { return }
    let chosen = running.remove(at: place)
    winner = chosen.index
    check.peer = attempt.peer
    for entry in running {
      record(entry, ProberResult(.unknown, .cancelled, detail: "another address answered first"))
      stop(entry)
    }
    record(chosen, .up)
    running = [chosen]
    report()
    setWakeTime()
    owner.contacted(attempt)
  }

  /// Called by an attempt that failed to contact its address.
  func failed(_ attempt: any AddressAttempt, _ finding: ProberResult) {
    guard !hasEnded, let place = running.firstIndex(where: { $0.attempt === attempt }) else { return }
    // The address had answered: this is the result.
    guard winner == nil else { return loop.conclude(check, finding) }
    let entry = running.remove(at: place)
    record(entry, finding)
    failures[entry.index] = finding
    attempts.failed(entry.index, finding.state)
    stop(entry)
    advance()
  }

  /// Starts attempts until there is a reason to wait.
  private func advance() {
    // An attempt may end while it begins.
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while winner == nil, !hasEnded {
      switch attempts.step(at: loop.now) {
      case .wait: return setWakeTime()
      case .failed(let index): return loop.conclude(check, finding(index))
      case .start(let index):
        switch loop.claimSlot(check, peers[index].address, isFirst: running.isEmpty) {
        case .granted: start(index)
        case .queued: return setWakeTime()
        case .refused: attempts.postponed(at: loop.now)
        }
      }
    }
    if !hasEnded { setWakeTime() }
  }

  private func start(_ index: Int) {
    let attempt = owner.attempt(peers[index], of: self)
    attempts.started(at: loop.now)
    running.append(Running(index: index, attempt: attempt, begun: .now))
    attempt.begin()
  }

  private func setWakeTime() {
    guard !hasEnded else { return }
    var moment = running.lazy.compactMap(\.attempt.wakeTime).min()
    if winner == nil, case .wait(let start?) = attempts.step(at: loop.now) { moment = min(moment ?? start, start) }
    loop.wake(check, at: moment)
  }

  /// The result at the end of the check's time.
  func overdue() -> ProberResult {
    guard winner == nil else { return running.first?.attempt.overdue() ?? .cancelled }
    for entry in running {
      let finding = entry.attempt.overdue()
      record(entry, finding)
      failures[entry.index] = finding
      attempts.failed(entry.index, finding.state)
    }
    return finding(attempts.leadingFailure)
  }

  /// The result of a host none of whose addresses has answered.
  private func finding(_ index: Int) -> ProberResult {
    check.peer = peers[index]
    report()
    guard var finding = failures[index] else { return .cancelled }
    if records.count > 1 {
      let shown = records.prefix(Limits.addressesReported).map { "\($0.address): \($0.detail ?? "no answer")" }
      let rest = records.count - shown.count
      finding.detail = "no address answered: " + shown.joined(separator: "; ") + (rest > 0 ? "; \(rest) more" : "")
    }
    return finding
  }

  private func record(_ entry: Running, _ finding: ProberResult) {
    // The result itself describes the only address; most checks have one.
    guard peers.count > 1 else { return }
    records.append(
      CheckResult.Attempt(
        entry.attempt.peer.address, finding.state, finding.reason, detail: finding.detail,
        startedAfter: check.begun.duration(to: entry.begun), duration: entry.begun.duration(to: .now)))
  }

  /// Adds the attempts to the evidence of the check if there were several.
  private func report() {
    guard records.count > 1 else { return }
    check.evidence.attempts += records.sorted { $0.startedAfter < $1.startedAfter }
  }

  private func stop(_ entry: Running) {
    entry.attempt.end()
    loop.releaseSlot(check, entry.attempt.peer.address)
  }

  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    for entry in running { stop(entry) }
    running = []
  }
}
