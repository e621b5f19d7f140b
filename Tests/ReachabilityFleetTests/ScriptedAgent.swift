import ReachabilityFleet
import ReachabilityModel

/// An ``AgentChain`` with the effects of its process and its store, which a test runs step by step.
struct ScriptedAgent {
  let id: String
  private(set) var epoch: String
  /// The changes of fleet targets in the store, in the current epoch.
  private(set) var changes: [FleetCellChange] = []
  private(set) var last: UInt64 = 0
  private(set) var cells: [String: FleetCellState] = [:]
  private var outbox: FleetOutbox
  private var isLoaded = true
  private var saved: FleetAcknowledgement?
  private(set) var chain: FleetAgentChain
  private(set) var isConnected = false
  private(set) var conflict: String?
  private(set) var isIdle = false
  private var pending: (action: FleetAgentChain.Action, operation: UInt64)?
  private var wake: Duration?
  private let limits: (events: Int, bytes: Int)

  init(_ id: String, epoch: String, limits: (events: Int, bytes: Int) = (1000, 1_000_000)) {
    self.id = id
    self.epoch = epoch
    self.limits = limits
    outbox = FleetOutbox(after: 0, events: limits.events, bytes: limits.bytes)
    chain = FleetAgentChain(agent: id, epoch: epoch, last: 0, saved: nil)
  }

  var hasWork: Bool { pending != nil }

  // MARK: - The store

  /// A target changes its state.
  mutating func change(_ target: String, to state: TargetState, at now: Duration) {
    last += 1
    let cell = FleetCellState(state, state == .up ? nil : .noRoute, since: Timestamp(microseconds: Int64(last)))
    let change = FleetCellChange(
      number: last, target: target, old: cells[target]?.state ?? .unknown, cell: cell,
      time: Timestamp(microseconds: Int64(last)))
    cells[target] = cell
    changes.append(change)
    outbox.append(change)
    run(chain.handle(.appended(last), at: now))
  }

  /// An event that is not a change of a fleet target takes the next number.
  mutating func addOtherEvent(at now: Duration) {
    last += 1
    outbox.advance(through: last)
    run(chain.handle(.appended(last), at: now))
  }

  // MARK: - The process

  mutating func connect(_ isConnected: Bool, at now: Duration) {
    guard self.isConnected != isConnected else { return }
    self.isConnected = isConnected
    if !isConnected { pending = nil }
    run(chain.handle(.connection(isConnected), at: now))
  }

  /// The process is killed and starts again; its store may be deleted meanwhile.
  mutating func restart(deletingStore newEpoch: String? = nil, at now: Duration) {
    if let newEpoch {
      epoch = newEpoch
      (changes, last, cells, saved) = ([], 0, [:], nil)
    }
    isLoaded = false
    pending = nil
    wake = nil
    chain = FleetAgentChain(agent: id, epoch: epoch, last: last, saved: saved)
    isConnected = false
    connect(true, at: now)
  }

  /// Reads the outbox from the store, after the last number in the stream is known.
  private mutating func load(after number: UInt64) {
    outbox = FleetOutbox(after: number, events: limits.events, bytes: limits.bytes)
    for change in changes where change.number > number { outbox.append(change) }
    outbox.advance(through: last)
    isLoaded = true
  }

  mutating func fireTimer(at now: Duration) {
    guard let wake, wake <= now else { return }
    self.wake = nil
    run(chain.handle(.timer, at: now))
  }

  mutating func requestBase(at now: Duration) { run(chain.handle(.baseRequested, at: now)) }

  /// Whether one call to NATS succeeds.
  enum Fate { case normal, refused, requestLost, replyLost }

  /// Performs the pending action.
  mutating func step(_ stream: inout ScriptedStream, _ fate: Fate = .normal, at now: Duration) {
    guard let (action, operation) = pending else { return }
    pending = nil
    let outcome: FleetAgentChain.Outcome
    switch action {
    case .readLastMessage:
      let found = stream[.events(id)].flatMap { entry -> FleetAgentChain.OwnMessage? in
        guard case .agent(let message) = entry.message else { return nil }
        return FleetAgentChain.OwnMessage(message, sequence: entry.sequence)
      }
      outcome = .lastMessage(
        fate == .normal ? .success(found) : .failure(fate == .refused ? .noResponders : .timedOut))
    case .readChanges(let after, let limit):
      // The stream has lost acknowledged events.
      if after < outbox.start || !isLoaded { load(after: after) }
      outcome = .changes(.success(outbox.page(after: after, limit: limit)))
    case .readBase:
      let sorted = cells.sorted { $0.key < $1.key }.map { FleetBaseCell($0.key, $0.value) }
      outcome = .base(.success(FleetAgentBase(number: last, cells: sorted)))
    case .publish(let message, let expected):
      var result: Result<UInt64, FleetEngineError> = .failure(fate == .refused ? .full : .timedOut)
      if fate == .normal || fate == .replyLost {
        do throws(FleetEngineError) {
          result = .success(try stream.publish(.agent(message), expecting: expected))
        } catch {
          result = .failure(error)
        }
        if fate == .replyLost { result = .failure(.timedOut) }
      }
      outcome = .published(result)
    }
    run(chain.handle(.completed(outcome, operation: operation), at: now))
  }

  private mutating func run(_ effects: [FleetAgentChain.Effect]) {
    for effect in effects {
      switch effect {
      case .perform(let action, let operation): pending = (action, operation)
      case .save(let acknowledgement):
        saved = acknowledgement
        outbox.discard(through: acknowledgement.acked)
      case .wake(let time): wake = time
      case .leftOut: break
      case .conflict(let epoch): conflict = epoch
      }
    }
  }
}
