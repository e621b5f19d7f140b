internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

/// Which checks are under way, who waits for them, and what the last ones found.
final class CheckBoard: Sendable {
  typealias Completion = @Sendable (CheckOutcome) -> Void

  private struct State {
    var running: [ProbeRequest: CheckRun] = [:]
    var memory = OutcomeMemory()
  }

  private let state = Locked(State())

  enum Admission {
    /// A fresh outcome is there.
    case known(CheckOutcome)
    /// It is under way already.
    case joined(any ProbeCancellation)
    /// It must be begun.
    case first(CheckRun, any ProbeCancellation)
  }

  /// Joins the check that is under way, or begins one, unless a fresh outcome is there.
  func join(_ request: ProbeRequest, _ maximumAge: Duration, _ completion: @escaping Completion) -> Admission {
    state.withLock { state in
      if maximumAge > .zero, let outcome = state.memory.outcome(of: request, maximumAge) { return .known(outcome) }
      if let run = state.running[request], let number = run.join(completion) {
        return .joined(Place(board: self, run: run, number: number))
      }
      let run = CheckRun(request)
      state.running[request] = run
      return .first(run, Place(board: self, run: run, number: run.join(completion) ?? 0))
    }
  }

  /// Whoever asks from now on asks anew: the target has answered, or has not.
  func close(_ run: CheckRun) { forget(run) }

  /// Ends a check that was answered at `instant`, and tells everybody who waits for it.
  func finish(_ run: CheckRun, _ outcome: CheckOutcome, answeredAt instant: ContinuousClock.Instant) {
    // What nobody waited for any more may be older than what is known.
    guard let waiting = run.end() else { return forget(run) }
    forget(run) { $0.memory.remember(outcome, instant) }
    for completion in waiting { completion(outcome) }
  }

  private func forget(_ run: CheckRun, _ more: (inout State) -> Void = { _ in }) {
    state.withLock { state in
      if state.running[run.request] === run { state.running[run.request] = nil }
      more(&state)
    }
  }

  /// One who waits for a check.
  private struct Place: ProbeCancellation {
    let board: CheckBoard
    let run: CheckRun
    let number: Int

    func cancel() {
      let (completion, cancellation) = run.leave(number)
      if cancellation != nil { board.forget(run) }
      let result = ProbeResult(.unknown, .cancelled, startedAt: .now, duration: .zero)
      completion?(CheckOutcome(request: run.request, result: result))
      cancellation?.cancel()
    }
  }
}

/// One check under way and those who wait for it.
final class CheckRun: Sendable {
  let request: ProbeRequest

  private struct State {
    /// In the order in which they came; nil for those who left.
    var waiting: [CheckBoard.Completion?] = []
    /// What ends it, once it has begun.
    var cancellation: (any ProbeCancellation)?
    /// It has ended, or nobody waits any more.
    var isOver = false
  }

  private let state = Locked(State())

  init(_ request: ProbeRequest) { self.request = request }

  /// Adds one who waits; nil when it is too late.
  func join(_ completion: @escaping CheckBoard.Completion) -> Int? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.waiting.append(completion)
      return state.waiting.count - 1
    }
  }

  /// Notes what ends the check, and ends it if nobody waits any more.
  func began(_ cancellation: any ProbeCancellation) {
    let isOver = state.withLock { state in
      if !state.isOver { state.cancellation = cancellation }
      return state.isOver
    }
    if isOver { cancellation.cancel() }
  }

  /// Takes one away; with what ends the check when it was the last.
  func leave(_ number: Int) -> (CheckBoard.Completion?, (any ProbeCancellation)?) {
    state.withLock { state in
      guard !state.isOver, let completion = state.waiting[number] else { return (nil, nil) }
      state.waiting[number] = nil
      guard state.waiting.allSatisfy({ $0 == nil }) else { return (completion, nil) }
      state.isOver = true
      defer { state.cancellation = nil }
      return (completion, state.cancellation ?? NotBegun())
    }
  }

  /// Ends it; returns those who wait, or nil when it was over.
  func end() -> [CheckBoard.Completion]? {
    state.withLock { state in
      defer { state = State(isOver: true) }
      return state.isOver ? nil : state.waiting.compactMap(\.self)
    }
  }
}

/// What ends a check that has not begun: `began` will.
private struct NotBegun: ProbeCancellation {
  func cancel() {}
}

/// The last outcomes, for those who content themselves with them.
struct OutcomeMemory {
  private var outcomes: [ProbeRequest: (outcome: CheckOutcome, at: ContinuousClock.Instant, number: Int)] = [:]
  /// The requests in the order of their outcomes, the oldest at `number` modulo its size.
  private var order: [ProbeRequest] = []
  private var number = 0

  func outcome(of request: ProbeRequest, _ maximumAge: Duration) -> CheckOutcome? {
    outcomes[request].flatMap { .now - $0.at <= maximumAge ? $0.outcome : nil }
  }

  /// Keeps an outcome, unless a younger one is there.
  mutating func remember(_ outcome: CheckOutcome, _ instant: ContinuousClock.Instant) {
    // Neither says anything about the target.
    guard outcome.result.reason != .cancelled, outcome.result.reason != .descriptorLimit else { return }
    guard outcomes[outcome.request].map({ $0.at <= instant }) ?? true else { return }
    let place = number % Limits.rememberedOutcomes
    if order.count == Limits.rememberedOutcomes {
      // Unless it was made again since.
      let oldest = order[place]
      if outcomes[oldest]?.number == number - Limits.rememberedOutcomes { outcomes[oldest] = nil }
      order[place] = outcome.request
    } else {
      order.append(outcome.request)
    }
    outcomes[outcome.request] = (outcome, instant, number)
    number += 1
  }
}
