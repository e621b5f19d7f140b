internal import DequeModule
internal import EventLoop
internal import Glibc
internal import HostResolver
internal import ReachabilityModel

/// The loop of a prober's thread.
///
/// Confined to that thread. A check passes the limiter of names, if its host is a name, then the limiter of its
/// protocol. Then its exchange owns descriptors, which this loop watches, and timers. Ready descriptors are handled
/// before timers, so that a process that was stopped reads the answers that arrived meanwhile.
final class ProberLoop {
  let inbox: ProberInbox
  enum TimerID: Hashable, Sendable {
    /// The deadline of a check, or the wake time of its exchange.
    case check(UInt64)
    /// The timer of a ``CurlGroup``, by its number.
    case transfers(Int)
  }

  let poller: Poller
  private let mailbox: Mailbox<ProberInbox.Command>
  let patterns = ProberPatternCache()
  let trust = TLSTrustStores()
  let credentials = TLSCredentials()
  private(set) lazy var transfers = CurlTransfers(self)
  var echoSocket4: ICMPEchoSocket?
  var echoSocket6: ICMPEchoSocket?
  var checks: [UInt64: ProberCheck] = [:]
  var resolverLimiter = ProberConcurrencyLimiter(
    capacity: Limits.checksResolving, perAddress: .max, queueLimit: Limits.checksWaiting)
  var slots = ProberSlots()
  /// Commands that are not handled yet.
  private let commands: ProberCommands
  /// Checks that a limiter has admitted and that have not continued: processed in sequence, without recursion.
  private var admitted: Deque<UInt64> = []
  var timers = TimerQueue<TimerID>()
  /// The owners of descriptors, by descriptor.
  private var handlers: [(any ProberDescriptorHandler)?] = []
  /// Results whose completions run when the state is consistent, because they may call the prober.
  private var completed: [Completed] = []
  private(set) var now = MonotonicInstant.now

  private struct Completed {
    let completion: @Sendable (CheckResult) -> Void
    let result: CheckResult
  }

  init(_ inbox: ProberInbox, _ poller: Poller, _ mailbox: Mailbox<ProberInbox.Command>) {
    self.inbox = inbox
    self.poller = poller
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
      flushEchoes()
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
    let count = poller.wait(atMost: timeout)
    now = .now
    compensateForStall(since: before, timeout)
    for index in 0..<count {
      let event = poller[index]
      guard event.token < UInt64(handlers.count) else { continue }
      handlers[Int(event.descriptor)]?.ready(event)
    }
    return count == poller.capacity
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
    transfers.cleanUp()
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
    timers.cancel(.check(check.id))
    if check.parent == nil { completed.append(Completed(completion: check.completion, result: result)) }
    release(check)
    if let parent = check.parent { gather(result, of: check, for: parent) }
  }
}

// Descriptors.
extension ProberLoop {
  /// Watches all changes of a new descriptor for `handler`, until ``close(_:)``.
  func watch(_ descriptor: Int32, _ handler: any ProberDescriptorHandler) throws(SocketFailure) {
    register(descriptor, handler)
    do throws(EventLoopError) {
      try poller.add(descriptor, .changes)
    } catch {
      throw .immediate(error.errno)
    }
  }

  /// Sets the owner of a descriptor that is added to the poller elsewhere; nil for none.
  func register(_ descriptor: Int32, _ handler: (any ProberDescriptorHandler)?) {
    while handlers.count <= Int(descriptor) { handlers.append(nil) }
    handlers[Int(descriptor)] = handler
  }

  /// Closes a descriptor, which also ends the watching.
  func close(_ descriptor: Int32) {
    if Int(descriptor) < handlers.count { handlers[Int(descriptor)] = nil }
    Glibc.close(descriptor)
  }
}

extension Poller.Events {
  /// All changes; a constant, because its parts are in another module.
  fileprivate static let changes: Poller.Events = [.readable, .writable, .peerClosed, .edgeTriggered]
}
