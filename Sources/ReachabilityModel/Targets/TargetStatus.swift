/// The state of a registered target.
public enum TargetState: String, Hashable, Sendable, CaseIterable {
  /// It answers.
  case up
  /// It does not answer, and the path to it is not the cause.
  case down
  /// There is no path to it; the state does not describe the target.
  case unreachable
  /// It was not checked yet, or checks are inconclusive.
  case unknown
  /// Checks are suspended.
  case paused

  /// Creates the state that corresponds to a result.
  init(_ state: CheckResult.State) {
    switch state {
    case .up: self = .up
    case .down: self = .down
    case .unreachable: self = .unreachable
    case .unknown: self = .unknown
    }
  }
}

/// The state of a registered target with its transitions: a pure state machine.
///
/// One result against the state makes a change *pending*; ``TargetDefinition/fall`` or ``TargetDefinition/rise``
/// consecutive ones complete it. In the state `unknown` the first result decides. After `unreachable` the first good
/// result decides; a bad one may still be caused by the local network, such as a port that does not forward yet or a
/// router that starts. A missing path takes effect immediately.
public struct TargetStatus: Hashable, Sendable {
  /// The current state.
  public private(set) var state: TargetState
  /// Why it is not `up`; nil when it is, and when it is paused.
  public private(set) var reason: Reason?
  /// When it entered this state.
  public private(set) var since: Timestamp
  /// The number of consecutive results that were not `up`; `unreachable` ones do not count.
  public private(set) var consecutiveFailures = 0
  /// The result of the last check; nil before the first.
  public private(set) var lastResult: CheckResult?
  /// The number of consecutive results against the state.
  private var contraryResults = 0
  /// Whether these results are `up`.
  private var contraryResultsAreUp = false
  private var flaps = FlapWindow()

  /// Whether the last results contradict the state, but not yet enough of them.
  public var isPending: Bool { contraryResults > 0 }
  /// Whether the state changes so often that it is not meaningful.
  public var isFlapping: Bool { flaps.isFlapping }

  /// Creates the status before the first check, or of a paused target.
  public init(at time: Timestamp, isPaused: Bool = false) {
    state = isPaused ? .paused : .unknown
    reason = isPaused ? nil : .starting
    since = time
  }

  /// Creates the status that an earlier process stored; a contrary result needs `fall` or `rise` as in that process.
  public init(restoring stored: Restorable) {
    state = stored.state
    reason = stored.reason
    since = stored.since
    consecutiveFailures = stored.consecutiveFailures
    flaps = FlapWindow(changes: stored.flapBits, last: stored.wasUp, isFlapping: stored.isFlapping)
  }

  /// What a later process restores.
  public var restorable: Restorable {
    Restorable(
      state: state, reason: reason, since: since, consecutiveFailures: consecutiveFailures, flapBits: flaps.changes,
      wasUp: flaps.last, isFlapping: flaps.isFlapping)
  }

  /// Processes a result; ignored while paused.
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

  /// Handles the loss of the path to the target, which the kernel reports; no check is needed.
  public mutating func loseRoute(_ reason: Reason?, at time: Timestamp) {
    guard state != .paused else { return }
    transition(.unreachable, reason, at: time)
  }

  /// Pauses or resumes checks; the state is reset, because it would be out of date.
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

/// The frequency of changes among the last results.
///
/// Two thresholds (hysteresis) keep the flapping state stable: an outage is two changes, a second one four; the sixth
/// change among ``size`` results starts flapping.
struct FlapWindow: Hashable, Sendable {
  /// The number of results in the window.
  static let size = 20
  /// The shares of changes that start and end flapping, in percent.
  static let high = 30
  static let low = 15

  /// One bit per result, the latest lowest: set when it differed from the previous one.
  private(set) var changes: UInt32 = 0
  private(set) var last: Bool?
  private(set) var isFlapping = false

  init(changes: UInt32 = 0, last: Bool? = nil, isFlapping: Bool = false) {
    self.changes = changes
    self.last = last
    self.isFlapping = isFlapping
  }

  /// The share of changes in the window, in percent.
  var percentage: Int { changes.nonzeroBitCount * 100 / Self.size }

  mutating func note(isUp: Bool) {
    let isChange = last.map { $0 != isUp } ?? false
    last = isUp
    changes = (changes << 1 | (isChange ? 1 : 0)) & (1 << UInt32(Self.size) - 1)
    if percentage >= Self.high { isFlapping = true }
    if percentage <= Self.low { isFlapping = false }
  }
}
