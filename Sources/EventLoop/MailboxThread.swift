internal import Locks

/// A thread that starts with the first message and handles messages until it is stopped.
package final class MailboxThread<Message: Sendable>: Sendable {
  /// What the thread runs; it returns when the mailbox is closed.
  ///
  /// The mailbox is attached to the poller, with the token ``Poller/mailboxToken``.
  package typealias Body = @Sendable (Poller, Mailbox<Message>) -> Void

  /// Why a message was not accepted.
  package enum PostError: Error, Sendable {
    case stopped
    /// Too many messages are waiting.
    case full
    /// The thread could not be started; the next message tries again.
    case unavailable(EventLoopError)
  }

  private enum Phase {
    case idle
    case running(Mailbox<Message>, LoopThread)
    case stopped
  }

  private let name: String
  private let eventCapacity: Int
  private let phase = Locked(Phase.idle)

  /// Makes a thread that is not started.
  ///
  /// - Parameters:
  ///   - name: the thread's name.
  ///   - eventCapacity: the largest number of events that its poller reports per wait.
  package init(_ name: String, eventCapacity: Int) {
    self.name = name
    self.eventCapacity = eventCapacity
  }

  /// Sends a message, and starts the thread if it does not run.
  ///
  /// - Parameters:
  ///   - message: what the thread receives.
  ///   - limit: the number of waiting messages from which this one is refused.
  ///   - body: called to start the thread.
  /// - Throws: why the message was not accepted.
  package func post(_ message: Message, limit: Int = .max, starting body: () -> Body) throws(PostError) {
    switch try runningMailbox(body).post(message, limit: limit) {
    case .accepted: break
    case .full: throw .full
    case .closed: throw .stopped
    }
  }

  package func postIfRunning(_ message: Message) {
    let mailbox = phase.withLock { phase -> Mailbox<Message>? in
      guard case .running(let mailbox, _) = phase else { return nil }
      return mailbox
    }
    mailbox?.post(message)
  }

  /// Closes the mailbox and waits for the thread to end, except when called on the thread itself.
  ///
  /// Only the first call waits.
  package func stop() {
    let last = phase.withLock { phase in
      defer { phase = .stopped }
      return phase
    }
    guard case .running(let mailbox, let thread) = last else { return }
    mailbox.close()
    thread.join()
  }

  private func runningMailbox(_ body: () -> Body) throws(PostError) -> Mailbox<Message> {
    try phase.withLock { (phase) throws(PostError) -> Mailbox<Message> in
      switch phase {
      case .stopped: throw .stopped
      case .running(let mailbox, _): return mailbox
      case .idle:
        do throws(EventLoopError) {
          let (mailbox, thread) = try start(body())
          phase = .running(mailbox, thread)
          return mailbox
        } catch {
          throw .unavailable(error)
        }
      }
    }
  }

  private func start(_ body: @escaping Body) throws(EventLoopError) -> (Mailbox<Message>, LoopThread) {
    let mailbox = try Mailbox<Message>()
    let poller = try Poller(capacity: eventCapacity)
    try mailbox.attach(to: poller, token: Poller.mailboxToken)
    return (mailbox, try LoopThread(name) { body(poller, mailbox) })
  }
}
