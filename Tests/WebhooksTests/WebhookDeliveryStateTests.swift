import ReachabilityModel
import Testing

@testable import Webhooks

@Suite("Delivery states")
struct WebhookDeliveryStateTests {
  @Test("Random failures lose, reorder and invent nothing", arguments: 0..<200)
  func simulation(seed: Int) {
    var simulation = DeliverySimulation(seed: UInt64(seed))
    simulation.run(steps: 300)
    #expect(simulation.faults == [])
    // Every event arrived or was rejected repeatedly; none was dropped within 72 h.
    let first = firstArrivals(simulation)
    let dead = Set(simulation.deadLetters)
    #expect(simulation.expected.filter { !dead.contains($0) && !first.contains($0) } == [])
    #expect(simulation.gaps == [])
    // Repetitions are possible, but the first arrivals are in order.
    #expect(first == simulation.expected.filter(Set(first).contains))
    #expect(dead.allSatisfy { id in UInt64(id.dropFirst(2)).map { $0 % 7 == 0 } ?? false })
    #expect(simulation.attempts > 0)
  }

  private func firstArrivals(_ simulation: DeliverySimulation) -> [String] {
    var seen: Set<String> = []
    return simulation.arrived.map(\.id).filter { seen.insert($0).inserted }
  }

  @Test("With a short maximum age, what is not delivered is told as a gap", arguments: 0..<100)
  func expiry(seed: Int) {
    var simulation = DeliverySimulation(seed: UInt64(seed), maximumAge: .seconds(120))
    simulation.run(steps: 300)
    #expect(simulation.faults == [])
    let first = firstArrivals(simulation).filter { !$0.hasSuffix("-gap") }
    #expect(first == simulation.expected.filter(Set(first).contains))
    let isComplete = first.count + simulation.deadLetters.count >= simulation.expected.count
    let gapArrived = simulation.arrived.contains { $0.id.hasSuffix("-gap") }
    #expect(isComplete || gapArrived)
  }

  // MARK: - Single rules

  typealias Moment = WebhookDeliveryState.Moment

  static func moment(_ seconds: Double) -> Moment {
    Moment(uptime: .seconds(seconds), time: Timestamp(microseconds: 1_000_000_000_000 + Int64(seconds * 1e6)))
  }

  static func event(_ sequence: UInt64, at seconds: Double = 0) -> WebhookEvent {
    WebhookEvent(sequence: sequence, time: moment(seconds).time, type: "path", subject: "machine", data: [0x30])
  }

  /// A webhook whose message 1 is being sent as request 2 at 0 s.
  static func sending(_ position: WebhookPosition = WebhookPosition(epoch: "e", settled: 0)) -> WebhookDeliveryState {
    let now = moment(0)
    var state = WebhookDeliveryState(
      position, epoch: "e", end: 3, maximumAge: .seconds(3_600), source: "s", seed: 1, now)
    _ = state.start(now)
    _ = state.routeChanged(isPresent: true, now)
    _ = state.received(.events([event(1), event(2), event(3)], through: 3), from: 1, now)
    return state
  }

  func sent(_ effects: [WebhookDeliveryState.Effect]) -> [String] {
    effects.compactMap { if case .send(let message, _) = $0 { message.id } else { nil } }
  }

  private func wake(_ effects: [WebhookDeliveryState.Effect]) -> Duration? {
    effects.compactMap { if case .wake(let at) = $0 { at } else { nil } }.last
  }

  private func saved(_ effects: [WebhookDeliveryState.Effect]) -> WebhookPosition? {
    effects.compactMap { if case .save(let position) = $0 { position } else { nil } }.last
  }

  func answer(
    _ state: inout WebhookDeliveryState, _ status: Int, at seconds: Double, retryAfter: Duration? = nil
  )
    -> [WebhookDeliveryState.Effect]
  {
    guard case .sending(let number, _, _, _) = state.activity else { return [] }
    return state.finished(.answered(status: status, retryAfter: retryAfter), number, Self.moment(seconds))
  }

  @Test("A new webhook begins at the present end, and stores that")
  func new() {
    var state = WebhookDeliveryState(
      nil, epoch: "e", end: 9, maximumAge: .seconds(60), source: "s", seed: 1, Self.moment(0))
    let effects = state.start(Self.moment(0))
    #expect(saved(effects)?.settled == 9)
    #expect(sent(effects + state.routeChanged(isPresent: true, Self.moment(1))) == [])
  }

  @Test("A position of another epoch becomes a gap at the present end")
  func otherEpoch() {
    var state = WebhookDeliveryState(
      WebhookPosition(epoch: "old", settled: 7), epoch: "e", end: 3, maximumAge: .seconds(60), source: "s", seed: 1,
      Self.moment(0))
    #expect(saved(state.start(Self.moment(0)))?.gap?.after == "old-7")
    #expect(sent(state.routeChanged(isPresent: true, Self.moment(1))) == ["e-3-gap"])
    #expect(state.position.gap?.reason == .newEpoch)
    #expect(saved(answer(&state, 204, at: 2))?.gap == nil)
    #expect(state.pending == 0)
  }

  @Test("A position moves with a 2xx only, and the next message follows immediately")
  func moves() {
    var state = Self.sending()
    let effects = answer(&state, 200, at: 1)
    #expect(saved(effects)?.settled == 1)
    #expect(sent(effects) == ["e-2"])
    let failed = answer(&state, 500, at: 2)
    #expect(saved(failed)?.settled == 1)
    #expect(saved(failed)?.failures == 1)
    #expect(sent(failed) == [])
  }

  @Test("A rejected message is given up after five attempts, and the next one is sent")
  func deadLetter() {
    var state = Self.sending()
    var seconds = 0.0
    for _ in 0..<4 {
      let effects = answer(&state, 400, at: seconds)
      #expect(sent(effects) == [])
      seconds += 200
      #expect(sent(state.advance(Self.moment(seconds))) == ["e-1"])
    }
    let effects = answer(&state, 400, at: seconds)
    #expect(effects.contains { if case .record(let record) = $0 { record.result == .deadLetter } else { false } })
    #expect(sent(effects) == ["e-2"])
  }

  @Test("410 pauses; the message is sent again after a resume")
  func gone() {
    var state = Self.sending()
    let effects = answer(&state, 410, at: 0)
    #expect(saved(effects)?.pause == .gone)
    #expect(sent(effects + state.advance(Self.moment(100))) == [])
    #expect(sent(state.resume(Self.moment(101))) == ["e-1"])
  }

  @Test("Without a route the request is cancelled; its return sends immediately")
  func held() {
    var state = Self.sending()
    #expect(state.routeChanged(isPresent: false, Self.moment(1)) == [.cancel(number: 2)])
    let effects = state.finished(.cancelled, 2, Self.moment(1))
    #expect(sent(effects) == [])
    #expect(wake(effects) == nil)
    #expect(state.hasMessage)
    #expect(sent(state.advance(Self.moment(500))) == [])
    #expect(sent(state.routeChanged(isPresent: true, Self.moment(501))) == ["e-1"])
    #expect(state.position.failures == 0)
  }

  @Test("A change of the route ends a back-off, at most once a second")
  func routeEndsWait() throws {
    var state = Self.sending()
    for seconds in [0.0, 100, 200, 300] {
      _ = answer(&state, 503, at: seconds)
      _ = state.advance(Self.moment(seconds + 100))
    }
    let until = try #require(wake(answer(&state, 503, at: 400.5)))
    #expect(until > .seconds(440))
    #expect(wake(state.routeChanged(isPresent: true, Self.moment(400.6))) == .seconds(401))
    #expect(sent(state.advance(Self.moment(401))) == ["e-1"])
  }

  @Test("Retry-After is obeyed despite a change of the route, and across a restart")
  func retryAfter() throws {
    var state = Self.sending()
    let effects = answer(&state, 429, at: 0, retryAfter: .seconds(600))
    #expect(wake(effects) == .seconds(600))
    #expect(wake(state.routeChanged(isPresent: true, Self.moment(10))) == .seconds(600))
    let position = try #require(saved(effects))
    var next = WebhookDeliveryState(
      position, epoch: "e", end: 3, maximumAge: .seconds(3_600), source: "s", seed: 1, Self.moment(60))
    _ = next.start(Self.moment(60))
    _ = next.received(.events([Self.event(1)], through: 3), from: 1, Self.moment(60))
    #expect(wake(next.routeChanged(isPresent: true, Self.moment(60))) == .seconds(600))
  }

  @Test("Old events are dropped when they would be sent, and a gap goes first")
  func expired() throws {
    var state = Self.sending()
    _ = answer(&state, 500, at: 0)
    let effects = state.advance(Self.moment(3_700))
    #expect(sent(effects) == ["e-3-gap"])
    let gap = try #require(saved(effects)?.gap)
    #expect(gap == WebhookGap(reason: .expired, after: "e-0", last: 3, count: 3, time: Self.moment(3_700).time))
    #expect(saved(effects)?.settled == 3)
  }

  @Test("A step of the clock expires no event, also in a run that is longer than the maximum age")
  func steppedClock() {
    var now = Self.moment(0)
    var state = WebhookDeliveryState(
      nil, epoch: "e", end: 0, maximumAge: .seconds(3_600), source: "s", seed: 1, now)
    _ = state.start(now)
    now = Self.moment(100_000)
    _ = state.available(1, now)
    _ = state.received(.events([Self.event(1, at: 100_000)], through: 1), from: 1, now)
    // A machine without a clock of its own sets it from the network.
    now.time = Timestamp(microseconds: now.time.microseconds + 86_400_000_000 * 450)
    #expect(state.oldestAge(now) == .zero)
    #expect(sent(state.routeChanged(isPresent: true, now)) == ["e-1"])
  }

  @Test("The age of an event of an earlier run is that of the service's time")
  func earlierRun() {
    let now = Self.moment(10)
    var state = WebhookDeliveryState(
      WebhookPosition(epoch: "e", settled: 0), epoch: "e", end: 2, maximumAge: .seconds(3_600), source: "s", seed: 1,
      now)
    _ = state.start(now)
    // By the wall clock both are older than a year.
    let events = [(UInt64(1), 3_601.0), (2, 3_000)].map { number, age in
      WebhookEvent(
        sequence: number, time: Timestamp(microseconds: 0), type: "path", subject: "machine", data: [0x30],
        age: .seconds(age))
    }
    _ = state.received(.events(events, through: 2), from: 1, now)
    #expect(state.oldestAge(Self.moment(20)) == .seconds(3_611))
    #expect(sent(state.routeChanged(isPresent: true, Self.moment(20))) == ["e-1-gap"])
    #expect(sent(answer(&state, 204, at: 21)) == ["e-2"])
  }

  @Test("Events that the store no longer has become a gap")
  func unavailable() {
    let now = Self.moment(0)
    var state = WebhookDeliveryState(
      WebhookPosition(epoch: "e", settled: 1), epoch: "e", end: 9, maximumAge: .seconds(3_600), source: "s", seed: 1,
      now)
    _ = state.start(now)
    _ = state.routeChanged(isPresent: true, now)
    let effects = state.received(.missing(through: 7), from: 1, now)
    #expect(saved(effects)?.settled == 7)
    #expect(effects.contains(.read(after: 7, number: 2)))
    #expect(sent(state.received(.events([Self.event(8), Self.event(9)], through: 9), from: 2, now)) == ["e-7-gap"])
    #expect(sent(answer(&state, 204, at: 1)) == ["e-8"])
  }

  @Test("A client's request is sent before the others, without a retry, also while paused")
  func requested() {
    var state = Self.sending()
    _ = state.pause(Self.moment(0))
    _ = answer(&state, 500, at: 0)
    let test = WebhookMessage(test: "test-1", at: Self.moment(1).time, source: "s")
    let accepted = state.request(test, token: 5, Self.moment(1))
    #expect(accepted.map(sent) == ["test-1"])
    let effects = answer(&state, 500, at: 2)
    let report = effects.contains { if case .report(5, let record) = $0 { record?.status == 500 } else { false } }
    #expect(report)
    #expect(sent(effects) == [])
    #expect(state.position.failures == 1)
  }

  @Test("Without a route a client's request ends immediately")
  func requestedWithoutRoute() {
    var state = Self.sending()
    _ = state.routeChanged(isPresent: false, Self.moment(0))
    _ = state.finished(.cancelled, 2, Self.moment(0))
    let test = WebhookMessage(test: "test-1", at: Self.moment(1).time, source: "s")
    let effects = state.request(test, token: 5, Self.moment(1))
    #expect(effects == [.report(token: 5, nil)])
  }

  @Test("Skipped events move the stored position rarely")
  func skipped() {
    let now = Self.moment(0)
    var state = WebhookDeliveryState(
      nil, epoch: "e", end: 0, maximumAge: .seconds(3_600), source: "s", seed: 1, now)
    _ = state.start(now)
    _ = state.available(5, now)
    #expect(wake(state.received(.events([], through: 5), from: 1, now)) == .seconds(30))
    #expect(state.pending == 0)
    #expect(saved(state.advance(Self.moment(30)))?.settled == 5)
  }
}
