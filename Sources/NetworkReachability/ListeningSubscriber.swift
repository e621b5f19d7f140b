internal import Dispatch
internal import Glibc
internal import Locks

/// A subscriber that calls a closure in a given context, with one update at a time and in order.
final class ListeningSubscriber: Subscriber {
  private let body: @Sendable (ReachabilityUpdate) -> Void
  private let context: DeliveryContext
  private let waitsAtEnd: Bool
  private let guarded: Locked<Guarded>

  private struct Guarded {
    var mailbox: SubscriberMailbox
    var isScheduled = false
    var hasEnded = false
    /// The thread that runs the closure.
    var caller: pthread_t?
    /// The threads that wait for that call to return.
    var waiters: [Waiter] = []
  }

  private struct Waiter: Sendable {
    let thread = pthread_self()
    let end = DispatchSemaphore(value: 0)
  }

  /// Creates a listener.
  ///
  /// - Parameters:
  ///   - context: where `body` runs.
  ///   - waitsAtEnd: whether ``end()`` waits for a call in progress on another thread.
  ///   - hostCount: the number of hosts that it watches.
  ///   - body: the closure.
  init(
    context: DeliveryContext, waitsAtEnd: Bool, hostCount: Int,
    body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) {
    guarded = Locked(Guarded(mailbox: SubscriberMailbox(hostCount: hostCount)))
    self.context = context
    self.waitsAtEnd = waitsAtEnd
    self.body = body
  }

  func offer(_ updates: [ReachabilityUpdate]) {
    guarded.withLock { if !$0.hasEnded { $0.mailbox.append(updates) } }
  }

  func wake() {
    let mustSchedule = guarded.withLock { guarded in
      guard !guarded.isScheduled, !guarded.hasEnded, !guarded.mailbox.isEmpty else { return false }
      guarded.isScheduled = true
      return true
    }
    if mustSchedule { context.schedule { self.deliver() } }
  }

  private func deliver() {
    while let update = nextCall() { body(update) }
  }

  /// Ends the call in progress, if any, and begins the next, in one critical section.
  ///
  /// - Returns: the argument of the next call; nil when there is none.
  private func nextCall() -> ReachabilityUpdate? {
    let (update, waiters) = guarded.withLock { guarded -> (ReachabilityUpdate?, [Waiter]) in
      let waiters = guarded.waiters
      if !waiters.isEmpty { guarded.waiters = [] }
      guard !guarded.hasEnded, let update = guarded.mailbox.popFirst() else {
        guarded.isScheduled = false
        guarded.caller = nil
        return (nil, waiters)
      }
      guarded.caller = pthread_self()
      return (update, waiters)
    }
    for waiter in waiters {
      WaitForGraph.end(waiter.thread)
      waiter.end.signal()
    }
    return update
  }

  func close() {
    guarded.withLock { guarded in
      guarded.hasEnded = true
      guarded.mailbox.removeAll()
    }
  }

  func end() {
    close()
    guard waitsAtEnd else { return }
    let waiter = guarded.withLock { guarded -> Waiter? in
      guard let caller = guarded.caller, pthread_equal(caller, pthread_self()) == 0 else { return nil }
      let waiter = Waiter()
      guard WaitForGraph.begin(waiter.thread, for: caller) else { return nil }
      guarded.waiters.append(waiter)
      return waiter
    }
    waiter?.end.wait()
  }
}
