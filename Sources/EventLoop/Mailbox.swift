package import DequeModule
internal import Locks

/// A queue of messages from any thread to one thread, which it wakes.
package final class Mailbox<Message: Sendable>: Sendable {
  package enum Delivery: Sendable {
    /// The thread will receive it.
    case accepted
    /// Too many messages are waiting.
    case full
    case closed
  }

  private struct State {
    var messages: Deque<Message> = []
    var isClosed = false
  }

  private let waker: Waker
  private let state = Locked(State())

  /// Makes an empty mailbox.
  ///
  /// - Throws: an ``EventLoopError`` if the process or the system has no descriptors left.
  package init() throws(EventLoopError) { waker = try Waker() }

  /// Adds the mailbox to the poller of the receiving thread: an event with this token means that ``take()`` has work.
  ///
  /// - Throws: an ``EventLoopError`` if the kernel refuses.
  package func attach(to poller: Poller, token: UInt64) throws(EventLoopError) {
    try waker.attach(to: poller, token: token)
  }

  /// Appends a message and wakes the thread.
  ///
  /// - Parameters:
  ///   - message: what the thread receives.
  ///   - limit: the number of waiting messages from which this one is refused.
  /// - Returns: whether the thread will receive it.
  @discardableResult
  package func post(_ message: Message, limit: Int = .max) -> Delivery {
    let delivery = state.withLock { state -> Delivery in
      if state.isClosed { return .closed }
      if state.messages.count >= limit { return .full }
      state.messages.append(message)
      return .accepted
    }
    if delivery == .accepted { waker.wake() }
    return delivery
  }

  /// Wakes the thread without a message.
  package func wake() { waker.wake() }

  /// Refuses messages from now on and wakes the thread; messages that were accepted before can still be taken.
  package func close() {
    state.withLock { $0.isClosed = true }
    waker.wake()
  }

  /// Whether the thread was woken since the last ``take()``; to be checked before a wait without a timeout.
  package var hasWork: Bool { waker.isPending }

  /// Whether ``close()`` was called.
  ///
  /// The closure is not a key path, because in a generic type the runtime would make that for each call.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes all messages; called by the receiving thread only.
  ///
  /// - Returns: the messages in the order of their arrival, and whether there will be no others.
  package func take() -> (messages: Deque<Message>, isClosed: Bool) {
    // Cleared first: a message that arrives after the messages are taken causes a new wake-up.
    waker.clear()
    return state.withLock { state in
      let messages = state.messages
      state.messages = []
      return (messages, state.isClosed)
    }
  }
}
