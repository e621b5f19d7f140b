internal import Dispatch
internal import Locks

/// Delivers the messages of some subjects of a stream in their order, each once, without a consumer on the server.
///
/// A NATS subscription notifies the reader of new messages, and direct get requests read them. So the client needs no
/// permission to create a consumer, and the server stores no state for it. Suitable for subjects with few messages.
public final class JetStreamReader: Sendable {
  private struct State: Sendable {
    /// The stream sequence of the next message to read.
    var next: UInt64
    /// For each subject, the next message that was read and is not delivered yet.
    var heads: [String: JetStreamMessage] = [:]
    /// For each subject, the stream sequence of the last message that was taken from `heads`.
    var taken: [String: UInt64] = [:]
    var isCancelled = false
    var isScheduled = false
    var subscriptions: [NATSSubscription] = []
  }

  private let connection: NATSConnection
  private let stream: String
  private let subjects: [String]
  private let handler: @Sendable (JetStreamDelivery) -> Void
  private let state: Locked<State>
  private let timer = NATSRepeatingTimer("reader", every: Limits.readInterval)

  /// Creates a reader and starts its deliveries.
  ///
  /// - Parameters:
  ///   - connection: the connection.
  ///   - stream: the name of the stream.
  ///   - subjects: the subjects, with wildcards; no two may match the same message.
  ///   - sequence: the stream sequence from which to read.
  ///   - handler: called for one event at a time.
  public init(
    _ connection: NATSConnection, stream: String, subjects: [String], from sequence: UInt64,
    handler: @escaping @Sendable (JetStreamDelivery) -> Void
  ) {
    self.connection = connection
    self.stream = stream
    self.subjects = subjects
    self.handler = handler
    state = Locked(State(next: max(1, sequence)))
    timer.start(self) { $0.read() }
  }

  deinit { cancel() }

  /// Stops the deliveries; does not wait for one in progress.
  public func cancel() {
    timer.cancel()
    state.withLock { state in
      state.isCancelled = true
      state.subscriptions = []
    }
  }

  /// Reads immediately; call it after a lost connection is restored.
  public func restart() { timer.queue.async { [weak self] in self?.read() } }

  /// Called for each message of the subjects: reads now, and again after ``Limits/readAgain``.
  private func schedule() {
    let isNew = state.withLock { state in
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard isNew else { return }
    timer.queue.async { [weak self] in self?.read() }
    timer.queue.asyncAfter(deadline: .now() + .milliseconds(Int(Limits.readAgain / .milliseconds(1)))) { [weak self] in
      self?.state.withLock { $0.isScheduled = false }
      self?.read()
    }
  }

  /// Delivers all messages that the server has stored.
  private func read() {
    do throws(JetStreamError) {
      try subscribe()
      var found = try nextMessage()
      while let message = found {
        let following = try nextMessage()
        guard !state.withLock(\.isCancelled) else { return }
        handler(.message(message, pending: following == nil ? 0 : 1))
        state.withLock { $0.next = message.sequence + 1 }
        found = following
      }
    } catch {
      // Messages that were read and not delivered are read again.
      state.withLock { ($0.heads, $0.taken) = ([:], [:]) }
      handler(.interrupted(error))
    }
  }

  private func subscribe() throws(JetStreamError) {
    guard state.withLock({ $0.subscriptions.isEmpty && !$0.isCancelled }) else { return }
    var made: [NATSSubscription] = []
    for subject in subjects { made.append(try connection.subscribe(subject) { [weak self] _ in self?.schedule() }) }
    state.withLock { [made] state in if !state.isCancelled { state.subscriptions = made } }
  }

  /// Takes the message with the lowest number from the heads of all subjects.
  private func nextMessage() throws(JetStreamError) -> JetStreamMessage? {
    for subject in subjects where state.withLock({ $0.heads[subject] == nil }) {
      let from = state.withLock { state in max(state.next, (state.taken[subject] ?? 0) + 1) }
      let head = try connection.nextMessage(
        of: subject, in: stream, from: from, within: Limits.requestTimeout)
      state.withLock { $0.heads[subject] = head }
    }
    return state.withLock { state in
      guard let first = state.heads.min(by: { $0.value.sequence < $1.value.sequence }) else { return nil }
      state.heads[first.key] = nil
      state.taken[first.key] = first.value.sequence
      return first.value
    }
  }
}
