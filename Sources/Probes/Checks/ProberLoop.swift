internal import Glibc
internal import Names
internal import ReachabilityModel

/// The prober's thread: everything in here is touched by no other.
///
/// A check passes the gate of names, if its host is one, then the gate of its protocol; then its exchange owns
/// descriptors, which this loop watches, and asks to be woken at a moment. What is ready is always served before any
/// time is called over, so that a process that was stopped finds the answers that came meanwhile.
final class ProberLoop {
  let inbox: ProberInbox
  let poller: EventPoller
  let patterns = PatternCache()
  let trust = TrustStores()
  let credentials = TLSCredentials()
  private(set) lazy var transfers = CurlTransfers(self)
  var echoSocket4: EchoSocket?
  var echoSocket6: EchoSocket?
  var checks: [UInt64: Check] = [:]
  var names = Gate(capacity: Limits.checksResolving, perAddress: .max, longestLine: Limits.checksWaiting)
  var sockets = Gate(
    capacity: SocketCapacity.current, perAddress: Limits.checksPerAddress, longestLine: Limits.checksWaiting)
  var echoes = Gate(
    capacity: Limits.echoesOpen, perAddress: Limits.checksPerAddress, longestLine: Limits.checksWaiting)
  /// What came in by the inbox and is not obeyed yet.
  private var commands = Line<ProberInbox.Command>()
  /// Those whom a gate has let in and whose turn has not begun: one after the other, not one inside of the other.
  private var admitted = Line<UInt64>()
  var alarms = Alarms()
  /// By descriptor: who owns it.
  private var watchers: [(any Watcher)?] = []
  /// Results whose completions run when the state is in order: they may do what they like.
  private var completed: [Completed] = []
  private(set) var now = Instant.now

  private struct Completed {
    let completion: @Sendable (ProbeResult) -> Void
    let result: ProbeResult
  }

  init(_ inbox: ProberInbox, _ poller: EventPoller) {
    self.inbox = inbox
    self.poller = poller
  }

  /// Runs until the inbox is stopped.
  func run() {
    // For every change: the bell is never read, each ring is a change.
    guard poller.add(inbox.bell) else { return }
    while true {
      let mayBeMore = wait()
      guard begin() else { return dismiss() }
      if !mayBeMore { ringAlarms() }
      flushEchoes()
      runCompletions()
    }
  }

  /// Waits and serves what is ready; true if there may be more.
  private func wait() -> Bool {
    let before = now
    let isBusy = !commands.isEmpty || !admitted.isEmpty
    let until = isBusy ? .zero : alarms.first.map { min(max(.zero, Instant.now.duration(to: $0)), Limits.heartbeat) }
    let count = poller.wait(until)
    now = .now
    forgive(before, until)
    for index in 0..<count {
      let ready = poller[index]
      guard Int(ready.descriptor) < watchers.count else { continue }
      watchers[Int(ready.descriptor)]?.ready(ready)
    }
    return count == poller.capacity
  }

  /// Begins some of what is to be begun; false if the thread is to end.
  ///
  /// Not all of it: while this thread begins checks it sees no answers, and would count that as the targets' time.
  private func begin() -> Bool {
    for _ in 0..<Limits.beginnings {
      guard let id = admitted.popFirst() else { break }
      if let check = checks[id] { enter(check) }
    }
    guard !inbox.take(&commands) else { return false }
    for _ in 0..<Limits.beginnings {
      guard let command = commands.popFirst() else { break }
      obey(command)
      // The bell rings only for what comes into an empty inbox: nothing may be left there before a wait.
      if commands.isEmpty, inbox.take(&commands) { return false }
    }
    return true
  }

  /// Ends everything, also what is not begun.
  private func dismiss() {
    repeat {
      while let command = commands.popFirst() {
        if case .check(let check) = command { checks[check.id] = check }
      }
      _ = inbox.take(&commands)
    } while !commands.isEmpty
    for check in Array(checks.values) { conclude(check, .cancelled) }
    runCompletions()
  }

  /// Whose turn comes next.
  func admit(_ ids: [UInt64]) {
    for id in ids {
      checks[id]?.step = .admitted
      admitted.append(id)
    }
  }

  private func obey(_ command: ProberInbox.Command) {
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
        (check.exchange as? HTTPExchange)?.resolved(Self.peers(outcome, check.request))
      }
    }
  }

  private func runCompletions() {
    guard !completed.isEmpty else { return }
    for check in completed { check.completion(check.result) }
    completed.removeAll(keepingCapacity: completed.count <= Limits.proberEvents)
  }

  /// Ends a check with what was found, and lets the next ones in.
  func conclude(_ check: Check, _ finding: Finding) {
    guard checks.removeValue(forKey: check.id) != nil else { return }
    completed.append(Completed(completion: check.completion, result: check.result(finding, .now)))
    release(check)
  }
}

// Descriptors.
extension ProberLoop {
  /// Watches a new descriptor for `watcher`, until ``close(_:)``; false if the kernel refuses.
  func own(_ descriptor: Int32, _ watcher: any Watcher) -> Bool {
    register(descriptor, watcher)
    return poller.add(descriptor)
  }

  /// Sends what happens to a descriptor, which the poller is told of elsewhere, to `watcher`; nil for to nobody.
  func register(_ descriptor: Int32, _ watcher: (any Watcher)?) {
    while watchers.count <= Int(descriptor) { watchers.append(nil) }
    watchers[Int(descriptor)] = watcher
  }

  /// Closes a descriptor, which also ends the watching.
  func close(_ descriptor: Int32) {
    if Int(descriptor) < watchers.count { watchers[Int(descriptor)] = nil }
    Glibc.close(descriptor)
  }
}
