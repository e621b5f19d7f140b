internal import DequeModule
internal import EventLoop
internal import Glibc
internal import ReachabilityModel

/// The loop of a prober's thread.
///
/// Confined to that thread. A check passes the limiter of names, if its host is a name, then the limiter of its
/// protocol. Then its exchange owns descriptors, which this loop watches, and timers. Ready descriptors are handled
/// before timers, so that a process that was stopped reads the answers that arrived meanwhile.
final class ProberLoop {
  let inbox: ProberInbox
  private enum TimerID: Hashable, Sendable {
    /// The deadline of a check, or the wake time of its exchange.
    case check(UInt64)
    /// The timer of a ``CurlGroup``, by its number.
    case transfers(Int)
  }

  let descriptors: ProberDescriptors
  private let mailbox: Mailbox<ProberInbox.Command>
  private(set) lazy var shared = Shared(transfers: CurlTransfers(self))
  /// Of IPv4 and of IPv6.
  private var echoSockets: [ICMPEchoSocket?] = [nil, nil]
  var checks: [UInt64: ProberCheck] = [:]
  var limiters = Limiters()
  /// Commands that are not handled yet.
  private let commands: ProberCommands
  /// Checks that a limiter has admitted and that have not continued: processed in sequence, without recursion.
  private var admitted: Deque<UInt64> = []
  private var timers = TimerQueue<TimerID>()
  /// Results whose completions run when the state is consistent, because they may call the prober.
  private var completed: [Completed] = []
  private(set) var now = MonotonicInstant.now

  private struct Completed {
    let completion: @Sendable (CheckResult) -> Void
    let result: CheckResult
  }

  init(_ inbox: ProberInbox, _ poller: Poller, _ mailbox: Mailbox<ProberInbox.Command>) {
    self.inbox = inbox
    descriptors = ProberDescriptors(poller)
    self.mailbox = mailbox
    commands = inbox.commands
  }

  /// Runs until the mailbox is closed.
  func run() {
    commands.open()
    while true {
      let mayBeMore = wait()
      guard begin() else { return cancelAll() }
      if !mayBeMore {
        handleTimers()
        for timer in inbox.setTimers { timer.fireIfDue(now) }
      }
      for socket in echoSockets { socket?.flush() }
      runCompletions()
    }
  }

  /// Waits and handles what is ready; true if there may be more.
  private func wait() -> Bool {
    let before = now
    let isBusy = !commands.queue.isEmpty || !admitted.isEmpty || mailbox.hasWork
    let earliest = isBusy ? nil : ([timers.earliest] + inbox.setTimers.map(\.earliest)).compactMap(\.self).min()
    let timeout =
      isBusy ? .zero : earliest.map { min(max(.zero, MonotonicInstant.now.duration(to: $0)), Limits.heartbeat) }
    let count = descriptors.wait(atMost: timeout)
    now = .now
    compensateForStall(since: before, timeout)
    return descriptors.handleReady(count)
  }

  /// Starts some of the received checks; false if the thread must end.
  ///
  /// The number is limited: while this thread starts checks it reads no answers, and that time would count as the
  /// targets'.
  private func begin() -> Bool {
    for _ in 0..<Limits.startsPerTurn {
      guard let id = admitted.popFirst() else { break }
      if let check = checks[id] { enter(check) }
    }
    // Frees the storage of a burst.
    if admitted.isEmpty { admitted = [] }
    guard !mailbox.isClosed else { return false }
    // Remaining messages stay in the mailbox, which has a limit.
    if mailbox.hasWork, commands.queue.count < Limits.startsPerTurn { commands.queue += mailbox.take().messages }
    for _ in 0..<Limits.startsPerTurn {
      guard let command = commands.queue.popFirst() else { break }
      handle(command)
    }
    return true
  }

  /// Cancels all checks, including those that are not started, and closes all connections.
  private func cancelAll() {
    commands.close()
    for case .check(let check) in commands.queue + mailbox.take().messages { checks[check.id] = check }
    for check in Array(checks.values) { conclude(check, .cancelled) }
    runCompletions()
    shared.transfers.cleanUp()
  }

  /// Continues checks that a limiter has admitted.
  func admit(_ ids: [UInt64]) {
    for id in ids {
      checks[id]?.step = .admitted
      admitted.append(id)
    }
  }

  private func handle(_ command: ProberInbox.Command) {
    switch command {
    case .check(let check):
      checks[check.id] = check
      accept(check)
    case .cancel(let id):
      if let check = checks[id] { conclude(check, .cancelled) }
    case .resolved(let id, let outcome):
      guard let check = checks[id] else { return }
      if check.step == .resolving {
        resolved(check, outcome)
      } else {
        check.exchange?.resolved(Self.peers(outcome, check.request))
      }
    case .timerSet: break
    }
  }

  private func runCompletions() {
    guard !completed.isEmpty else { return }
    for check in completed { check.completion(check.result) }
    completed.removeAll(keepingCapacity: completed.count <= Limits.proberEvents)
  }

  /// Ends a check with a finding, and admits others.
  func conclude(_ check: ProberCheck, _ finding: ProberResult) { complete(check, check.result(finding, .now)) }

  /// Ends a check with its result, and admits others.
  func complete(_ check: ProberCheck, _ result: CheckResult) {
    guard checks.removeValue(forKey: check.id) != nil else { return }
    cancelTimer(check)
    if check.parent == nil { completed.append(Completed(completion: check.completion, result: result)) }
    release(check)
    if let parent = check.parent { gather(result, of: check, for: parent) }
  }

  // MARK: - Sockets and timers

  /// The ICMP socket of a family: the one that was opened with the prober, or a new one.
  func echoSocket(ipv6: Bool) throws(SocketFailure) -> ICMPEchoSocket {
    if let known = echoSockets[ipv6 ? 1 : 0] { return known }
    var opened = inbox.takeEchoSocket(ipv6: ipv6)
    if opened.descriptor == nil { opened = ICMPEchoPackets.open(ipv6: ipv6) }
    guard let packets = ICMPEchoPackets(opened, ipv6: ipv6) else {
      if case .refused(let code) = opened { throw .immediate(code) }
      throw .immediate(EMFILE)
    }
    let socket = ICMPEchoSocket(packets, descriptors)
    echoSockets[ipv6 ? 1 : 0] = socket
    return socket
  }

  /// Sets the timer of a check to the next time at which it must be handled.
  func setTimer(_ check: ProberCheck) {
    // The checks of its addresses have timers.
    guard check.step != .gathering else { return }
    timers.set(.check(check.id), at: check.nextMoment)
  }

  /// Sets the timer of a group of libcurl's transfers; nil for none.
  func setTimer(_ group: CurlGroup, at moment: MonotonicInstant?) {
    if let moment {
      timers.set(.transfers(group.number), at: moment)
    } else {
      timers.cancel(.transfers(group.number))
    }
  }

  func cancelTimer(_ check: ProberCheck) { timers.cancel(.check(check.id)) }

  private func handleTimers() {
    while let timer = timers.popExpired(now) {
      switch timer {
      case .check(let id): if let check = checks[id] { timerExpired(check) }
      case .transfers(let number): shared.transfers.groups[number].timerExpired()
      }
    }
  }
}
