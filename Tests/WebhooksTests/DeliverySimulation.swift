import ReachabilityModel
import TestSupport

@testable import Webhooks

/// A receiver, a store, a network and a process that is killed, in simulated time and determined by a seed.
struct DeliverySimulation {
  /// The receiver's answers for a time.
  enum Receiver: CaseIterable {
    case accepts, isDown, overloaded, rejects
  }

  /// What arrived at the receiver, and whether it answered with 2xx.
  private(set) var arrived: [(id: String, isAccepted: Bool, at: Duration)] = []
  private(set) var faults: [String] = []
  private(set) var attempts = 0
  private(set) var restarts = 0
  private(set) var gaps: [String] = []
  private(set) var deadLetters: [String] = []

  private var generator: SeededGenerator
  private var now = WebhookDeliveryState.Moment(uptime: .zero, time: Timestamp(microseconds: 1_700_000_000_000_000))
  private var events: [WebhookEvent] = []
  private var stored: WebhookPosition?
  private var state: WebhookDeliveryState
  private var receiver = Receiver.accepts
  private var hasRoute = true
  private var isPaused = false
  /// The effects in progress.
  private var request: (number: Int, message: WebhookMessage, until: Duration, isCancelled: Bool)?
  private var read: (number: Int, after: UInt64)?
  private var wakeAt: Duration?
  private let maximumAge: Duration

  init(seed: UInt64, maximumAge: Duration = .seconds(72 * 3_600)) {
    generator = SeededGenerator(seed: seed)
    self.maximumAge = maximumAge
    state = WebhookDeliveryState(
      nil, epoch: "e", end: 0, maximumAge: maximumAge, source: "urn:reachd:x", seed: seed, now)
    perform(state.start(now))
    perform(state.routeChanged(isPresent: true, now))
  }

  /// Runs random steps, and then until everything is delivered.
  mutating func run(steps: Int) {
    for _ in 0..<steps { step() }
    receiver = .accepts
    if isPaused { resume() }
    if !hasRoute { changeRoute(true) }
    for _ in 0..<10_000 where state.pending > 0 || state.hasMessage || request != nil { advance(.seconds(30)) }
  }

  private mutating func step() {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<6: append()
    case 6..<12: advance(.milliseconds(Int.random(in: 1...20_000, using: &generator)))
    case 12, 13: receiver = Receiver.allCases.randomElement(using: &generator) ?? .accepts
    case 14: changeRoute(!hasRoute)
    case 15: restart()
    case 16: isPaused ? resume() : pause()
    case 17: perform(state.reconfigure(maximumAge: maximumAge, now))
    default: advance(.seconds(Int.random(in: 1...600, using: &generator)))
    }
    check()
  }

  /// The ids that must arrive, in their order.
  var expected: [String] { events.map { "e-\($0.sequence)" } }

  private mutating func append() {
    let sequence = UInt64(events.count + 1)
    events.append(WebhookEvent(sequence: sequence, time: now.time, type: "path", subject: "machine", data: [0x30]))
    perform(state.available(sequence, now))
  }

  private mutating func changeRoute(_ isPresent: Bool) {
    hasRoute = isPresent
    perform(state.routeChanged(isPresent: isPresent, now))
  }

  private mutating func pause() {
    isPaused = true
    perform(state.pause(now))
  }

  private mutating func resume() {
    isPaused = false
    perform(state.resume(now))
  }

  /// Ends the process with kill -9, and starts another with what was stored.
  private mutating func restart() {
    restarts += 1
    (request, read, wakeAt) = (nil, nil, nil)
    state = WebhookDeliveryState(
      stored, epoch: "e", end: UInt64(events.count), maximumAge: maximumAge, source: "urn:reachd:x",
      seed: generator.next(), now)
    perform(state.start(now))
    perform(state.routeChanged(isPresent: hasRoute, now))
  }

  private mutating func advance(_ duration: Duration) {
    let end = now.uptime + duration
    for _ in 0..<100_000 {
      let moments = [wakeAt, request?.until, read == nil ? nil : now.uptime].compactMap(\.self)
      guard let next = moments.min(), next <= end else { break }
      move(to: max(next, now.uptime))
      if let read {
        self.read = nil
        answer(read.number, read.after)
      } else if let request, request.until <= now.uptime {
        self.request = nil
        finish(request.number, request.message, isCancelled: request.isCancelled)
      } else {
        wakeAt = nil
        perform(state.advance(now))
      }
      check()
    }
    move(to: end)
  }

  private mutating func move(to uptime: Duration) {
    let step = Int64((uptime - now.uptime) / .microseconds(1))
    now.time = Timestamp(microseconds: now.time.microseconds + step)
    now.uptime = uptime
  }

  private mutating func answer(_ number: Int, _ after: UInt64) {
    guard Int.random(in: 0..<10, using: &generator) > 0 else {
      return perform(state.received(.failed, from: number, now))
    }
    let found = events[Int(after)...].prefix(Int.random(in: 1...5, using: &generator)).map { event in
      var event = event
      event.age = .microseconds(now.time.microseconds - event.time.microseconds)
      return event
    }
    perform(state.received(.events(found, through: found.last?.sequence ?? after), from: number, now))
  }

  private mutating func finish(_ number: Int, _ message: WebhookMessage, isCancelled: Bool) {
    let isDead = !message.id.hasSuffix("-gap") && message.sequence.map { $0 % 7 == 0 } ?? false
    // A cancelled request may have arrived.
    let isSent = !isCancelled || Bool.random(using: &generator)
    switch receiver {
    case .accepts where isSent && !isDead: arrived.append((message.id, true, now.uptime))
    case .accepts, .isDown, .overloaded, .rejects: break
    }
    let outcome: WebhookAttemptOutcome =
      switch receiver {
      case _ where isCancelled: .cancelled
      case .accepts: .answered(status: isDead ? 400 : 204, retryAfter: nil)
      case .isDown: .failed("connection refused")
      case .overloaded: .answered(status: 503, retryAfter: .seconds(Int.random(in: 0...100, using: &generator)))
      case .rejects: .answered(status: 408, retryAfter: nil)
      }
    perform(state.finished(outcome, number, now))
  }

  private mutating func perform(_ effects: [WebhookDeliveryState.Effect]) {
    for effect in effects {
      switch effect {
      case .read(let after, let number): read = (number, after)
      case .send(let message, let number):
        attempts += 1
        if request != nil { faults.append("two requests at once at \(now.uptime)") }
        if !hasRoute { faults.append("sent without a route at \(now.uptime)") }
        if isPaused { faults.append("sent while paused at \(now.uptime)") }
        let duration = Duration.milliseconds(Int.random(in: 0...15_000, using: &generator))
        request = (number, message, now.uptime + duration, false)
      case .cancel(let number):
        if request?.number == number {
          request?.isCancelled = true
          request?.until = now.uptime + .milliseconds(1)
        }
      case .wake(let at): wakeAt = at
      case .save(let position): stored = position
      case .record(let record):
        if record.result == .dropped { gaps.append(record.message) }
        if record.result == .deadLetter { deadLetters.append(record.message) }
      case .report, .abandon: break
      }
    }
  }

  /// Invariants that hold after every input.
  private mutating func check() {
    if state.position.settled > UInt64(events.count) { faults.append("settled beyond the end") }
    if state.buffer.count > 5 { faults.append("more than one read in memory") }
    let numbers = state.buffer.map(\.sequence)
    if numbers != numbers.sorted() { faults.append("events out of order in memory") }
    if let first = numbers.first, first <= state.position.settled { faults.append("a settled event in memory") }
  }
}
