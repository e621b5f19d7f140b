internal import Locks

/// The updates of a monitor as an asynchronous sequence: first the present state, then every change.
///
/// Each iteration is a separate subscription. It ends when the monitor is stopped or released, or the task is cancelled. A
/// consumer that falls behind receives the latest state and the number of omitted changes (``ReachabilityUpdate/skipped``).
public struct ReachabilityUpdates: AsyncSequence, Sendable {
  /// One update.
  public typealias Element = ReachabilityUpdate
  /// The sequence never fails.
  public typealias Failure = Never

  /// The number of hosts that each subscription watches.
  let hostCount: Int
  let subscribe: @Sendable (any Subscriber) -> ReachabilityMonitor.Subscription?

  /// Begins a subscription; updates are kept for the iterator from now on.
  public func makeAsyncIterator() -> Iterator {
    let storage = ReachabilityUpdateStorage(hostCount: hostCount)
    let subscription = subscribe(storage)
    if subscription == nil { storage.end() }
    return Iterator(storage: storage, subscription: subscription)
  }

  /// Delivers the updates of one subscription; it ends with the iterator.
  public struct Iterator: AsyncIteratorProtocol {
    let storage: ReachabilityUpdateStorage
    let subscription: ReachabilityMonitor.Subscription?

    /// The next update; nil when the monitor has stopped or the task is cancelled.
    public mutating func next() async -> ReachabilityUpdate? {
      await storage.next()
    }

    /// The next update; nil when the monitor has stopped or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityUpdate? {
      await storage.next()
    }
  }
}

/// The mailbox of one iteration, and its waiting consumer.
final class ReachabilityUpdateStorage: Subscriber {
  private typealias Consumer = CheckedContinuation<ReachabilityUpdate?, Never>

  private let guarded: Locked<Guarded>

  private struct Guarded {
    var mailbox: SubscriberMailbox
    var consumer: Consumer?
    var hasEnded = false
  }

  init(hostCount: Int) { guarded = Locked(Guarded(mailbox: SubscriberMailbox(hostCount: hostCount))) }

  func offer(_ updates: [ReachabilityUpdate]) {
    guarded.withLock { if !$0.hasEnded { $0.mailbox.append(updates) } }
  }

  func wake() {
    let (consumer, update) = guarded.withLock { guarded -> (Consumer?, ReachabilityUpdate?) in
      guard guarded.consumer != nil, let update = guarded.mailbox.popFirst() else { return (nil, nil) }
      defer { guarded.consumer = nil }
      return (guarded.consumer, update)
    }
    consumer?.resume(returning: update)
  }

  func close() {
    guarded.withLock { guarded in
      guarded.hasEnded = true
      guarded.mailbox.removeAll()
    }
  }

  func end() {
    close()
    let consumer = guarded.withLock { guarded in
      defer { guarded.consumer = nil }
      return guarded.consumer
    }
    consumer?.resume(returning: nil)
  }

  func next() async -> ReachabilityUpdate? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { consumer in
        let (answer, update) = guarded.withLock { guarded -> (Bool, ReachabilityUpdate?) in
          if let update = guarded.mailbox.popFirst() { return (true, update) }
          // The cancellation handler may have run before the continuation was stored.
          if guarded.hasEnded || Task.isCancelled { return (true, nil) }
          precondition(guarded.consumer == nil, "one iterator is used by one task at a time")
          guarded.consumer = consumer
          return (false, nil)
        }
        if answer { consumer.resume(returning: update) }
      }
    } onCancel: {
      end()
    }
  }
}
