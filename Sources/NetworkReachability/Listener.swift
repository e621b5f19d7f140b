public import Dispatch
internal import Glibc
internal import Locks

/// Where a listener's closure runs.
public struct DeliveryContext: Sendable {
  let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// A context that runs closures by `schedule`, which must run each of them once, at any time, on any thread.
  ///
  /// Order needs no care: a listener schedules the next delivery only when the one before it has ended.
  public init(_ schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.schedule = schedule
  }

  /// A dispatch queue, serial or concurrent.
  public static func queue(_ queue: DispatchQueue) -> DeliveryContext {
    DeliveryContext { work in queue.async(execute: work) }
  }

  /// The main queue; the program must run it (`dispatchMain`, a main actor that suspends).
  public static var main: DeliveryContext { queue(.main) }

  /// A task executor.
  public static func executor(_ executor: some TaskExecutor) -> DeliveryContext {
    DeliveryContext { work in Task(executorPreference: executor) { work() } }
  }
}

/// A closure that hears updates, one at a time and in order, in its own context.
final class Listener: Subscriber {
  private let body: @Sendable (ReachabilityUpdate) -> Void
  private let context: DeliveryContext
  private let waitsAtEnd: Bool
  private let guarded = Locked(Guarded())

  private struct Guarded {
    var mailbox = Mailbox()
    var isScheduled = false
    var hasEnded = false
    /// The thread that is inside the closure now.
    var caller: pthread_t?
    /// Who waits for that call to end.
    var waiters: [Waiter] = []
  }

  private struct Waiter: Sendable {
    let thread = pthread_self()
    let end = DispatchSemaphore(value: 0)
  }

  /// Made with whether ``end()`` waits for a call that is under way on another thread.
  init(context: DeliveryContext, waitsAtEnd: Bool, body: @escaping @Sendable (ReachabilityUpdate) -> Void) {
    self.context = context
    self.waitsAtEnd = waitsAtEnd
    self.body = body
  }

  func offer(_ update: ReachabilityUpdate) {
    guarded.withLock { if !$0.hasEnded { $0.mailbox.put(update) } }
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
    while let update = begin() {
      body(update)
      finish()
    }
  }

  private func begin() -> ReachabilityUpdate? {
    guarded.withLock { guarded in
      guard !guarded.hasEnded, let update = guarded.mailbox.take() else {
        guarded.isScheduled = false
        return nil
      }
      guarded.caller = pthread_self()
      return update
    }
  }

  private func finish() {
    let waiters = guarded.withLock { guarded in
      guarded.caller = nil
      defer { guarded.waiters = [] }
      return guarded.waiters
    }
    for waiter in waiters {
      ThreadWaits.end(waiter.thread)
      waiter.end.signal()
    }
  }

  func close() {
    guarded.withLock { guarded in
      guarded.hasEnded = true
      guarded.mailbox.clear()
    }
  }

  func end() {
    close()
    guard waitsAtEnd else { return }
    let waiter = guarded.withLock { guarded -> Waiter? in
      guard let caller = guarded.caller, pthread_equal(caller, pthread_self()) == 0 else { return nil }
      let waiter = Waiter()
      guard ThreadWaits.begin(waiter.thread, for: caller) else { return nil }
      guarded.waiters.append(waiter)
      return waiter
    }
    waiter?.end.wait()
  }
}
