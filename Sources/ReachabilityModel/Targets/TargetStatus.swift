/// What is known of a registered target.
public enum TargetState: String, Hashable, Sendable, CaseIterable {
  /// It answers.
  case up
  /// It does not answer, and our own way out is not to blame.
  case down
  /// Our own way to it is missing: nothing is said about the target.
  case unreachable
  /// It was not checked yet, or checks cannot tell.
  case unknown
  /// It is not checked.
  case paused

  /// The state that a result speaks for.
  init(_ state: CheckResult.State) {
    switch state {
    case .up: self = .up
    case .down: self = .down
    case .unreachable: self = .unreachable
    case .unknown: self = .unknown
    }
  }
}

/// The state of a registered target and what leads to the next: a pure machine.
///
/// One result against the state makes a change *pending*; ``TargetDefinition/fall`` or ``TargetDefinition/rise`` of them
/// in a row make it. Where nothing is known yet, the first result decides, and so does the first good one after our own way
/// was missing: a bad one then may still be our own network's, a port that does not forward yet or a router that starts. A
/// missing way of our own waits for nothing.
public struct TargetStatus: Hashable, Sendable {
  /// What is known.
  public private(set) var state: TargetState
  /// Why it is not `up`; nil when it is, and when it is paused.
  public private(set) var reason: Reason?
  /// Since when it has been in this state.
  public private(set) var since: Timestamp
  /// How many results in a row were not `up`; those of a missing way do not count.
  public private(set) var consecutiveFailures = 0
  /// What the last check found; nil before the first.
  public private(set) var lastResult: CheckResult?
  /// How many results in a row have spoken against the state.
  private var contraryResults = 0
  /// What they said.
  private var contraryResultsAreUp = false
  private var flaps = FlapWindow()

  /// Whether the last results speak against the state, but not yet enough of them.
  public var isPending: Bool { contraryResults > 0 }
  /// Whether it goes up and down so often that its state says little.
  public var isFlapping: Bool { flaps.isFlapping }

  /// The status before the first check, or of a target that is not checked.
  public init(at time: Timestamp, isPaused: Bool = false) {
    state = isPaused ? .paused : .unknown
    reason = isPaused ? nil : .starting
    since = time
  }

  /// Takes in a result; nothing happens while it is paused.
  public mutating func take(_ result: CheckResult, _ definition: TargetDefinition, at time: Timestamp) {
    guard state != .paused else { return }
    lastResult = result
    switch result.state {
    case .up: consecutiveFailures = 0
    case .down, .unknown: consecutiveFailures += 1
    case .unreachable: break
    }
    if result.state == .up || result.state == .down { flaps.note(isUp: result.state == .up) }
    let next = TargetState(result.state)
    let isUp = next == .up
    if next == state || next == .unreachable || state == .unknown || state == .unreachable && isUp {
      return transition(next, result.reason, at: time)
    }
    contraryResults = contraryResultsAreUp == isUp ? contraryResults + 1 : 1
    contraryResultsAreUp = isUp
    if contraryResults >= (isUp ? definition.rise : definition.fall) { transition(next, result.reason, at: time) }
  }

  /// Our own way to the target is missing, says the kernel: no check is needed to know.
  public mutating func loseRoute(_ reason: Reason?, at time: Timestamp) {
    guard state != .paused else { return }
    transition(.unreachable, reason, at: time)
  }

  /// Stops or resumes; what was known is forgotten then, for it gets old.
  public mutating func pause(_ isPaused: Bool, at time: Timestamp) {
    guard isPaused != (state == .paused) else { return }
    let last = lastResult
    self = TargetStatus(at: time, isPaused: isPaused)
    lastResult = last
  }

  private mutating func transition(_ next: TargetState, _ reason: Reason?, at time: Timestamp) {
    if state != next { since = time }
    state = next
    self.reason = reason
    contraryResults = 0
  }
}

/// How often the last results differed from the ones before them.
///
/// Two thresholds, so that flapping itself does not flap: an outage is two changes, a second one four; the sixth among
/// ``size`` results is a pattern.
struct FlapWindow: Hashable, Sendable {
  /// Results that are looked at.
  static let size = 20
  /// The share of changes that begins flapping, and the one that ends it, in percent.
  static let high = 30
  static let low = 15

  /// One bit a result, the latest lowest: set when it differed from the one before.
  private var changes: UInt32 = 0
  private var last: Bool?
  private(set) var isFlapping = false

  /// The share of changes among the last results, in percent.
  var percentage: Int { changes.nonzeroBitCount * 100 / Self.size }

  mutating func note(isUp: Bool) {
    let isChange = last.map { $0 != isUp } ?? false
    last = isUp
    changes = (changes << 1 | (isChange ? 1 : 0)) & (1 << UInt32(Self.size) - 1)
    if percentage >= Self.high { isFlapping = true }
    if percentage <= Self.low { isFlapping = false }
  }
}
