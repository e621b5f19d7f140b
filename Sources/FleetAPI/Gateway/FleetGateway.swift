internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import ReachabilityModel

/// The part of a replica that agents speak to: it stores what it has decoded, by conditional publications, and answers into
/// the inbox of the agent only (ADR 60).
///
/// The engine's thread decides from subject and size whether a request is handled; the queue `gateway` decodes it.
final class FleetGateway: Sendable {
  /// The group of which one replica receives each request.
  static let group = "replicas"

  private struct State: Sendable {
    var budget = GatewayBudget()
    var subscription: (any FleetSubscription)?
    var counts = GatewayCounts()
  }

  let engine: any FleetEngine
  private weak let roster: (any GatewayRosterSource)?
  private let stream: GatewayStreamState
  let logger: Logger
  private let state = Locked(State())
  private let admission = GatewayAdmission(GatewayLimits.received)
  private let queue = DispatchQueue(label: "gateway")
  private let start = ContinuousClock.now

  init(_ engine: any FleetEngine, _ roster: any GatewayRosterSource, _ logger: Logger) {
    self.engine = engine
    self.roster = roster
    self.logger = logger
    stream = GatewayStreamState(engine)
  }

  var counts: GatewayCounts {
    var counts = state.withLock(\.counts)
    counts.dropped &+= admission.dropped
    return counts
  }

  private var now: Duration { ContinuousClock.now - start }

  /// Begins or ends to receive requests: only a replica that has read the stream to its end receives some.
  func setMember(_ isMember: Bool) {
    let hasSubscription = state.withLock { $0.subscription != nil }
    guard hasSubscription != isMember else { return }
    guard isMember else {
      let old = state.withLock { state in
        defer { state.subscription = nil }
        return state.subscription
      }
      old?.cancel()
      return
    }
    let new = engine.subscribe(
      FleetSubject.requests, group: Self.group, admits: { [admission] in admission.admits($0) },
      receive: { [weak self] in self?.receive($0) })
    state.withLock { $0.subscription = new }
  }

  // MARK: - The engine's thread

  private func receive(_ message: FleetEngineUnstoredMessage) {
    // A wildcard in the subject of a reply has ended servers: nothing is sent to a subject that is not the agent's own.
    guard case .request(let agent)? = FleetSubject(message.subject), TargetSpec.isID(agent),
      let reply = message.reply.flatMap({ FleetReplySubject($0, of: agent) })
    else { return drop() }
    let bytes = message.payload.count
    guard bytes <= GatewayLimits.requestBytes else {
      return answer(.rejected("a request has at most \(GatewayLimits.requestBytes) bytes"), reply)
    }
    switch state.withLock({ $0.budget.admit(agent, bytes: bytes, at: now) }) {
    case .dropped: drop()
    case .slowDown(let wait):
      answer(.slowDown(wait), reply)
      // The next ones cost less than the decision about them.
      admission.close(message.subject, for: min(wait, GatewayLimits.notice))
    case .admitted:
      queue.async { [self] in
        handle(message.payload, of: agent) { [self] result in
          state.withLock { $0.budget.finish(agent, bytes: bytes) }
          answer(result, reply)
        }
      }
    }
  }

  private func answer(_ answer: GatewayAnswer, _ reply: FleetReplySubject) {
    state.withLock { $0.counts.add(answer) }
    engine.answer(GatewayWire.encode(answer), on: reply)
  }

  private func drop() { state.withLock { $0.counts.dropped &+= 1 } }

  // MARK: - Requests

  private func handle(
    _ payload: [UInt8], of agent: String, _ complete: @escaping @Sendable (GatewayAnswer) -> Void
  ) {
    let request: GatewayRequest
    do throws(GatewayRejection) {
      request = try GatewayWire.request(payload, of: agent)
    } catch {
      return complete(.rejected(error.reason))
    }
    guard let roster else { return complete(.failed("the replica stops")) }
    guard !roster.isReplica(agent) else { return complete(.rejected("the id is that of a replica")) }
    switch request {
    case .publish(let message): publish(message, of: agent, complete)
    case .last: readLast(of: agent, complete)
    case .confirm: confirm(agent, roster, complete)
    case .roster(let after): complete(GatewayPages.answer(roster.checks(of: agent), after: after))
    case .missing(let ids):
      complete(roster.ended(ids, of: agent).map { .missing(ended: $0) } ?? .failed("not everything is read"))
    case .hello(let hello):
      changeMembership(of: agent, hello.instance, complete) { GatewayMembership.step(hello, after: $0) }
    case .bye(let instance):
      changeMembership(of: agent, instance, complete) { GatewayMembership.step(byeOf: instance, after: $0) }
    }
  }

  /// Stores what was decoded, in its own form and without the headers of the client.
  private func publish(
    _ message: AgentMessage, of agent: String, _ complete: @escaping @Sendable (GatewayAnswer) -> Void
  ) {
    if let wait = state.withLock({ $0.budget.take(changes: message.count, of: agent, at: now) }) {
      return complete(.slowDown(wait))
    }
    let payload = FleetWire.encode(.agent(message))
    guard payload.count <= GatewayLimits.storedBytes else {
      return complete(.rejected("a message has at most \(GatewayLimits.storedBytes) bytes"))
    }
    engine.publish(payload, on: .events(agent), expecting: FleetEngineExpectedLast(after: message.after)) {
      complete(GatewayAnswer(published: $0))
    }
  }

  private func readLast(of agent: String, _ complete: @escaping @Sendable (GatewayAnswer) -> Void) {
    engine.lastMessage(on: .events(agent)) { result in
      switch result {
      case .success(let message): complete(.last(message.map { FleetAgentChain.OwnMessage($0, of: agent) }))
      case .failure(let error): complete(.failed("\(error)"))
      }
    }
  }

  private func confirm(
    _ agent: String, _ roster: any GatewayRosterSource, _ complete: @escaping @Sendable (GatewayAnswer) -> Void
  ) {
    stream.read { state in
      guard let state else { return complete(.failed("the state of the stream is not known")) }
      let (hello, list) = roster.confirmation(of: agent)
      complete(.confirmed(GatewayConfirmation(stream: state, hello: hello, roster: list)))
    }
  }

  // MARK: - Membership

  private func changeMembership(
    of agent: String, _ instance: UInt64, _ complete: @escaping @Sendable (GatewayAnswer) -> Void,
    _ decide: @escaping @Sendable (GatewayMembership.Last?) -> GatewayMembership.Step
  ) {
    engine.lastMessage(on: .node(agent)) { [self] result in
      switch result {
      case .failure(let error): complete(.failed("\(error)"))
      case .success(let stored):
        switch decide(stored.map { GatewayMembership.Last($0, of: agent) }) {
        case .known(let sequence): complete(.stored(sequence))
        case .publish(let content, let expectation, let isFirst, let changes):
          if let wait = state.withLock({ $0.budget.takeMembership(of: agent, changes: changes, at: now) }) {
            return complete(.slowDown(wait))
          }
          let store: @Sendable () -> Void = { [self] in
            let message = FleetWire.encode(.node(NodeMessage(id: agent, content)))
            engine.publish(message, on: .node(agent), expecting: expectation) { complete(GatewayAnswer(published: $0)) }
          }
          guard isFirst else { return store() }
          findOther(agent, instance) { problem in if let problem { complete(problem) } else { store() } }
        }
      }
    }
  }
}
