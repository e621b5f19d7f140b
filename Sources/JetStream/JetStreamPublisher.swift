internal import Dispatch
internal import JSONFormat
internal import Locks
public import NATSClient

/// Publishes messages to streams over one connection, without a thread for each acknowledgement.
public final class JetStreamPublisher: Sendable {
  /// The header with the expectation about the subject's last message.
  static let header = "Nats-Expected-Last-Subject-Sequence"

  private struct Waiting: Sendable {
    var operation: String
    var deadline: ContinuousClock.Instant
    var complete: @Sendable (Result<UInt64, NATSError>) -> Void

    var timedOut: NATSError { NATSError(operation, .timedOut, "no acknowledgement arrived in time") }
  }

  private struct State: Sendable {
    var waiting: [UInt64: Waiting] = [:]
    var next: UInt64 = 0
    var subscription: NATSSubscription?
  }

  private let connection: NATSConnection
  /// The subject of all acknowledgements, without the number of each.
  private let inbox: String
  private let state = Locked(State())
  private let timer = NATSRepeatingTimer("publications", every: Limits.expiryInterval)

  /// Begins to receive acknowledgements.
  ///
  /// - Throws: an error when the connection is closed.
  public init(_ connection: NATSConnection) throws(NATSError) {
    self.connection = connection
    inbox = connection.makeInbox()
    let subscription = try connection.subscribe("\(inbox).*", readsStatus: true) { [weak self] message in
      self?.receive(message)
    }
    state.withLock { $0.subscription = subscription }
    timer.start(self) { $0.expire() }
  }

  deinit {
    timer.cancel()
    for waiting in state.withLock(\.waiting).values { waiting.complete(.failure(waiting.timedOut)) }
  }

  /// Publishes a message.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - payload: the payload.
  ///   - expected: what the last message of the subject must be; nil for any.
  ///   - timeLimit: how long to wait for the acknowledgement.
  ///   - completion: receives the number in the stream, or the error of ``NATSConnection/publish(_:_:expecting:within:)``,
  ///     on a thread of the connection or of a timer.
  public func publish(
    _ subject: String, _ payload: [UInt8], expecting expected: JetStreamLastMessageExpectation?,
    within timeLimit: Duration, completion: @escaping @Sendable (Result<UInt64, NATSError>) -> Void
  ) {
    let operation = "publish \(subject)"
    let waiting = Waiting(operation: operation, deadline: .now + timeLimit, complete: completion)
    let number = state.withLock { state -> UInt64? in
      guard state.waiting.count < Limits.publications else { return nil }
      state.next += 1
      state.waiting[state.next] = waiting
      return state.next
    }
    guard let number else { return completion(.failure(NATSError(operation, .failed, "too many publications wait"))) }
    do throws(NATSError) {
      try Self.checkSize(payload, operation)
      try connection.publish(
        subject, payload, reply: "\(inbox).\(number)", sending: expected.map { [Self.header: $0.headerValue] } ?? [:])
    } catch {
      if state.withLock({ $0.waiting.removeValue(forKey: number) }) != nil { completion(.failure(error)) }
    }
  }

  private func receive(_ message: NATSMessage) {
    guard let number = message.subject.split(separator: ".").last.flatMap({ UInt64($0) }),
      let waiting = state.withLock({ $0.waiting.removeValue(forKey: number) })
    else { return }
    waiting.complete(Result { () throws(NATSError) in try Self.sequence(message, waiting.operation) })
  }

  private func expire() {
    let now = ContinuousClock.now
    let isConnected = connection.isConnected
    let expired = state.withLock { state -> [Waiting] in
      let numbers = state.waiting.filter { !isConnected || $0.value.deadline <= now }.keys
      return numbers.compactMap { state.waiting.removeValue(forKey: $0) }
    }
    for waiting in expired { waiting.complete(.failure(waiting.timedOut)) }
  }

  // MARK: - Acknowledgements

  static func checkSize(_ payload: [UInt8], _ operation: String) throws(NATSError) {
    guard payload.count <= Limits.payload else {
      throw NATSError(operation, .tooLarge, "\(payload.count) bytes, at most \(Limits.payload)")
    }
  }

  /// The number in the stream that an acknowledgement contains.
  static func sequence(_ reply: NATSMessage, _ operation: String) throws(NATSError) -> UInt64 {
    if reply.status == 503 { throw NATSError(operation, .noResponders, "no stream has the subject") }
    guard let json = try? JSON.parse(reply.payload) else {
      throw NATSError(operation, .failed, "the acknowledgement is no JSON")
    }
    if let error = json["error"] { throw NATSError(operation, api: error) }
    guard case .integer(let number) = json["seq"], let sequence = UInt64(exactly: number), sequence <= Limits.sequence
    else { throw NATSError(operation, .failed, "the acknowledgement has no sequence number") }
    return sequence
  }
}
