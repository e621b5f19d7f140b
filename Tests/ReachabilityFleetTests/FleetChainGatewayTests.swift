import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// What replicas answer to a chain besides acknowledgements.
@Suite("A chain and its replicas")
struct FleetChainGatewayTests {
  private var chain = FleetAgentChain(agent: "a", epoch: "e", last: 0, saved: nil)
  private var now = Duration.zero
  private var pending: (action: FleetAgentChain.Action, operation: UInt64)?
  private var leftOut: [AgentMessage] = []
  private var wake: Duration?

  private mutating func handle(_ input: FleetAgentChain.Input) {
    pending = nil
    for effect in chain.handle(input, at: now) {
      switch effect {
      case .perform(let action, let operation): pending = (action, operation)
      case .leftOut(let message, _): leftOut.append(message)
      case .wake(let time): wake = time
      case .save, .conflict: break
      }
    }
  }

  private mutating func complete(_ outcome: FleetAgentChain.Outcome) throws {
    let operation = try #require(pending).operation
    handle(.completed(outcome, operation: operation))
  }

  private static func change(_ number: UInt64) -> FleetCellChange {
    FleetCellChange(
      number: number, target: "t", old: .unknown, cell: FleetCellState(.up, since: Timestamp(microseconds: 0)),
      time: Timestamp(microseconds: 0))
  }

  private func published() throws -> AgentMessage {
    guard case .publish(let message, _)? = pending?.action else { throw ChainProblem(pending: "\(pending as Any)") }
    return message
  }

  private struct ChainProblem: Error { var pending: String }

  /// Connects, publishes an empty base, and has as many changes wait.
  private mutating func begin(_ count: UInt64) throws {
    handle(.stream(created: 9))
    handle(.connection(true))
    try complete(.lastMessage(.success(nil)))
    try complete(.base(.success(FleetAgentBase(number: 0, cells: []))))
    try complete(.published(.success(1)))
    handle(.appended(count))
  }

  private mutating func readPage(_ count: UInt64) throws {
    guard case .readChanges(let after, let limit)? = pending?.action else {
      throw ChainProblem(pending: "\(pending as Any)")
    }
    let last = min(count, after + UInt64(limit))
    let changes = ((after + 1)...last).map(Self.change)
    try complete(.changes(.success(FleetOutboxPage(start: after, changes: changes, through: last, last: count))))
  }

  @Test("When replicas ask to slow down, the same message is sent again after the time, and nothing has failed")
  mutating func slowDown() throws {
    try begin(3)
    try readPage(3)
    let message = try published()
    for _ in 0..<50 {
      try complete(.published(.failure(.slowDown(.seconds(2)))))
      #expect(pending == nil && wake == now + .seconds(2))
      handle(.appended(4))
      #expect(pending == nil, "it waits")
      now += .seconds(2)
      handle(.timer)
      #expect(try published() == message)
    }
    try complete(.published(.success(2)))
    #expect(chain.backlog == 1)
  }

  @Test("A part of a base is kept while replicas ask to slow down")
  mutating func slowBase() throws {
    handle(.connection(true))
    try complete(.lastMessage(.success(nil)))
    let cells = (0..<600).map { FleetBaseCell("t\($0)", FleetCellState(.up, since: Timestamp(microseconds: 0))) }
    try complete(.base(.success(FleetAgentBase(number: 0, cells: cells))))
    try complete(.published(.success(1)))
    let second = try published()
    try complete(.published(.failure(.slowDown(.seconds(1)))))
    now += .seconds(1)
    handle(.timer)
    #expect(try published() == second)
    try complete(.published(.success(2)))
    guard case .base(let third) = try published().content else { throw ChainProblem(pending: "") }
    #expect(third.part == 3 && third.of == 3)
  }

  @Test("A rejected message is halved, and a single rejected change is left out: readers see the gap")
  mutating func rejected() throws {
    try begin(8)
    // The change 3 is the one that replicas reject.
    var stored: [ClosedRange<UInt64>] = []
    var sequence: UInt64 = 1
    for _ in 0..<40 {
      guard let action = pending?.action else { break }
      if case .readChanges = action {
        try readPage(8)
        continue
      }
      guard case .changes(let batch) = try published().content else { throw ChainProblem(pending: "") }
      if batch.changes.contains(where: { $0.number == 3 }) {
        try complete(.published(.failure(.rejected("size"))))
      } else {
        sequence += 1
        stored.append(batch.prev + 1...batch.to)
        try complete(.published(.success(sequence)))
      }
    }
    #expect(leftOut.count == 1 && leftOut.first?.to == 3)
    #expect(stored.flatMap { Array($0) } == [1, 2, 4, 5, 6, 7, 8])
    #expect(chain.backlog == 0)
    var fold = FleetFold(created: 1)
    _ = fold.apply(
      .agent(
        AgentMessage(
          agent: "a", epoch: "e", after: 0,
          .changes(AgentChangeBatch(prev: 0, from: 1, to: 2, changes: [Self.change(1), Self.change(2)])))),
      sequence: 1, time: 1)
    let events = fold.apply(
      .agent(
        AgentMessage(
          agent: "a", epoch: "e", after: 1,
          .changes(AgentChangeBatch(prev: 3, from: 4, to: 4, changes: [Self.change(4)])))),
      sequence: 2, time: 2)
    #expect(events.first?.content == .gap(agent: "a", after: 2, before: 4))
  }

  @Test("A rejected base is left out until the next one is due")
  mutating func rejectedBase() throws {
    handle(.connection(true))
    try complete(.lastMessage(.success(nil)))
    try complete(.base(.success(FleetAgentBase(number: 0, cells: []))))
    try complete(.published(.failure(.rejected("form"))))
    #expect(leftOut.count == 1 && pending == nil)
  }

  @Test("An unreadable last message is followed, and is no conflict of agents")
  mutating func unreadable() throws {
    try begin(1)
    try readPage(1)
    try complete(.published(.failure(.unexpectedLast)))
    guard case .readLastMessage? = pending?.action else { throw ChainProblem(pending: "\(pending as Any)") }
    try complete(.lastMessage(.success(FleetAgentChain.OwnMessage(sequence: 99, epoch: nil, to: 0))))
    #expect(chain.phase != .conflicted)
    var conflicting = chain
    #expect(conflicting.after == 99)
    // A readable one of another history is a conflict.
    _ = conflicting.handle(.connection(false), at: now)
    chain.hasPublished = true
    handle(.connection(false))
    handle(.connection(true))
    try complete(.lastMessage(.success(FleetAgentChain.OwnMessage(sequence: 120, epoch: "other", to: 5))))
    #expect(chain.phase == .conflicted)
  }

  @Test("A base that lies behind the position of a request is not published again")
  mutating func knownBase() throws {
    try begin(0)
    #expect(chain.hasBase(after: FleetEngineStreamPosition(sequence: 0, created: 9)))
    #expect(!chain.hasBase(after: FleetEngineStreamPosition(sequence: 1, created: 9)))
    #expect(!chain.hasBase(after: FleetEngineStreamPosition(sequence: 0, created: 8)))
    handle(.baseRequestedAfter(FleetEngineStreamPosition(sequence: 0, created: 9)))
    #expect(pending == nil)
    handle(.baseRequestedAfter(FleetEngineStreamPosition(sequence: 1, created: 9)))
    guard case .readBase? = pending?.action else { throw ChainProblem(pending: "\(pending as Any)") }
    handle(.stream(created: 10))
    #expect(!chain.hasBase(after: FleetEngineStreamPosition(sequence: 0, created: 10)))
  }

  @Test("The oldest event that waits has an age")
  mutating func age() throws {
    #expect(chain.oldestWaiting == nil)
    now = .seconds(5)
    handle(.appended(1))
    now = .seconds(9)
    handle(.appended(2))
    #expect(chain.oldestWaiting == .seconds(5))
    handle(.connection(true))
    try complete(.lastMessage(.success(nil)))
    try complete(.base(.success(FleetAgentBase(number: 1, cells: []))))
    try complete(.changes(.success(FleetOutboxPage(start: 0, changes: [Self.change(1)], through: 1, last: 2))))
    try complete(.published(.success(1)))
    #expect(chain.oldestWaiting == .seconds(9))
  }
}
