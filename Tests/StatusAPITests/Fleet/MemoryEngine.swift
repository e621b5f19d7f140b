import Dispatch
import Locks
import ReachabilityFleet

@testable import FleetAPI
@testable import StatusAPI

/// An engine in memory that a test can wipe; deliveries are on a queue, as with a real one.
final class MemoryEngine: FleetEngine {
  fileprivate struct State: Sendable {
    var created: Int64 = 1
    var clock: Int64 = 1_767_225_600_000_000_000
    var messages: [FleetEngineStoredMessage] = []
    var last: UInt64 = 0
    var consumers: [Int: Consumer] = [:]
    var next = 0
    var observers: [@Sendable (Bool) -> Void] = []
    var subscribers: [Int: Subscriber] = [:]
    var answers: [String: [[UInt8]]] = [:]
    var agents: [String: @Sendable ([UInt8]) -> [UInt8]?] = [:]
    /// What the requests to agents fail with.
    var askFailure: FleetEngineError?
    var interfere: (@Sendable (FleetSubject) -> Void)?
    /// What publications, and reads, fail with.
    var failure: FleetEngineError?
    var failsReads = false
  }

  fileprivate struct Consumer: Sendable {
    var next: UInt64
    var receive: @Sendable (FleetEngineDelivery) -> Void
  }

  fileprivate struct Subscriber: Sendable {
    /// The subject before the wildcard.
    var prefix: String
    var group: String?
    var admits: (@Sendable (String) -> Bool)?
    var receive: @Sendable (FleetEngineUnstoredMessage) -> Void
  }

  private final class Subscription: FleetSubscription {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    func cancel() { end() }
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "engine")

  /// The messages of a subject's kind.
  func messages(_ prefix: String) -> [FleetEngineStoredMessage] {
    state.withLock { $0.messages.filter { $0.subject.hasPrefix(prefix) } }
  }

  @discardableResult
  func publish(_ message: FleetMessage) -> UInt64 {
    let sequence = state.withLock { $0.append(FleetWire.encode(message), message.subject) }
    deliver()
    return sequence
  }

  /// Loses the stream: the connection ends and comes back with an empty one.
  func wipe() {
    let observers = state.withLock { state in
      state.created += 1
      state.messages = []
      state.last = 0
      state.consumers = [:]
      return state.observers
    }
    for isConnected in [false, true] { for observer in observers { observer(isConnected) } }
  }

  /// Answers the requests to an agent.
  func answer(_ agent: String, _ body: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
    state.withLock { $0.agents[agent] = body }
  }

  /// Fails the requests to agents; nil ends that.
  func failRequests(_ error: FleetEngineError?) { state.withLock { $0.askFailure = error } }

  /// Calls a closure before each publication of a replica: another one may come first.
  func beforePublications(_ body: @escaping @Sendable (FleetSubject) -> Void) {
    state.withLock { $0.interfere = body }
  }

  /// Fails publications, and readings of the stream's state unless `reads` is false; nil ends that.
  func fail(_ error: FleetEngineError?, reads: Bool = true) {
    state.withLock { state in (state.failure, state.failsReads) = (error, reads) }
  }

  /// Ends or begins the connection.
  func setConnected(_ isConnected: Bool) {
    let observers = state.withLock { state in
      if !isConnected { state.consumers = [:] }
      return state.observers
    }
    for observer in observers { observer(isConnected) }
  }

  private func deliver() {
    queue.async { [self] in
      let deliveries = state.withLock { state -> [(@Sendable (FleetEngineDelivery) -> Void, FleetEngineDelivery)] in
        var all: [(@Sendable (FleetEngineDelivery) -> Void, FleetEngineDelivery)] = []
        for (number, consumer) in state.consumers {
          for message in state.messages where message.sequence >= consumer.next {
            all.append((consumer.receive, .message(message, pending: state.last - message.sequence)))
          }
          state.consumers[number]?.next = state.last + 1
        }
        return all
      }
      for (receive, delivery) in deliveries { receive(delivery) }
    }
  }

  // MARK: - FleetEngine

  func publish(
    _ payload: [UInt8], on subject: FleetSubject, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    state.withLock(\.interfere)?(subject)
    let result = state.withLock { state -> Result<UInt64, FleetEngineError> in
      if let failure = state.failure { return .failure(failure) }
      let last = state.messages.last { $0.subject == subject.description }?.sequence ?? 0
      if let expectation, expectation != FleetEngineExpectedLast(after: last) { return .failure(.unexpectedLast) }
      return .success(state.append(payload, subject))
    }
    queue.async { completion(result) }
    deliver()
  }

  func lastMessage(
    on subject: FleetSubject,
    completion: @escaping @Sendable (Result<FleetEngineStoredMessage?, FleetEngineError>) -> Void
  ) {
    let found = state.withLock { $0.messages.last { $0.subject == subject.description } }
    queue.async { completion(.success(found)) }
  }

  func streamState(completion: @escaping @Sendable (Result<FleetEngineStreamState?, FleetEngineError>) -> Void) {
    let found = state.withLock { state -> Result<FleetEngineStreamState?, FleetEngineError> in
      if state.failsReads, let failure = state.failure { return .failure(failure) }
      return .success(
        FleetEngineStreamState(
          created: state.created, first: state.messages.first?.sequence ?? state.last + 1, last: state.last))
    }
    queue.async { completion(found) }
  }

  func consume(
    from sequence: UInt64, receive: @escaping @Sendable (FleetEngineDelivery) -> Void
  ) -> any FleetSubscription {
    let number = state.withLock { state in
      state.next += 1
      state.consumers[state.next] = Consumer(next: sequence, receive: receive)
      return state.next
    }
    deliver()
    return Subscription { [self] in _ = state.withLock { $0.consumers.removeValue(forKey: number) } }
  }

  func send(_ payload: [UInt8], on subject: FleetSubject) {
    deliver(FleetEngineUnstoredMessage(subject: subject.description, payload: payload))
  }

  /// Delivers a message to its subscribers, and to one of each group.
  func deliver(_ message: FleetEngineUnstoredMessage) {
    let found = state.withLock(\.subscribers).sorted { $0.key < $1.key }.map(\.value)
      .filter { message.subject.hasPrefix($0.prefix) }
    var groups: Set<String> = []
    let receivers = found.filter { each in each.group.map { groups.insert($0).inserted } ?? true }
    queue.async {
      for each in receivers where each.admits?(message.subject) ?? true { each.receive(message) }
    }
  }

  func answer(_ payload: [UInt8], on subject: FleetReplySubject) {
    state.withLock { $0.answers[subject.description, default: []].append(payload) }
  }

  /// What was answered on a subject.
  func answers(on subject: String) -> [[UInt8]] { state.withLock { $0.answers[subject] ?? [] } }

  /// The subjects that have answers.
  var answered: Set<String> { state.withLock { Set($0.answers.keys) } }

  func subscribe(
    _ subject: String, group: String?, admits: (@Sendable (_ subject: String) -> Bool)?,
    receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription {
    let prefix = subject.last == "*" ? String(subject.dropLast()) : subject
    let number = state.withLock { state in
      state.next += 1
      state.subscribers[state.next] = Subscriber(prefix: prefix, group: group, admits: admits, receive: receive)
      return state.next
    }
    return Subscription { [self] in _ = state.withLock { $0.subscribers.removeValue(forKey: number) } }
  }

  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) {
    var reply: [UInt8]?
    if case .ask(let agent) = subject { reply = state.withLock { $0.agents[agent] }?(payload) }
    let failure = state.withLock(\.askFailure) ?? .noResponders
    let result: Result<[UInt8], FleetEngineError> = reply.map { .success($0) } ?? .failure(failure)
    queue.async { completion(result) }
  }

  func observeConnection(_ observer: @escaping @Sendable (Bool) -> Void) {
    state.withLock { $0.observers.append(observer) }
    observer(true)
  }
}

extension MemoryEngine.State {
  fileprivate mutating func append(_ payload: [UInt8], _ subject: FleetSubject) -> UInt64 {
    last += 1
    clock += 1_000_000
    messages.append(
      FleetEngineStoredMessage(subject: subject.description, sequence: last, time: clock, payload: payload))
    return last
  }
}
