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
///
/// A change to `down` of a target with ``TargetDefinition/dependsOn`` is held until ``decide(brokenBy:_:at:)``: its parents may have to be
/// checked first. It is `unreachable` with the reason ``Reason/dependencyDown`` if they are the cause.
public struct TargetStatus: Hashable, Sendable {
  /// The current state.
  public private(set) var state: TargetState
  /// Why it is not `up`; nil when it is, and when it is paused.
  public private(set) var reason: Reason?
  /// When it entered this state.
  public private(set) var since: Timestamp
  /// The target at the root of the outage when the reason is ``Reason/dependencyDown``; nil otherwise.
  public private(set) var dependency: String?
  /// The number of consecutive results that were not `up`; `unreachable` ones do not count.
  public private(set) var consecutiveFailures = 0
  /// The result of the last check; nil before the first.
  public private(set) var lastResult: CheckResult?
  /// The number of consecutive results against the state.
  private var contraryResults = 0
  /// Whether these results are `up`.
  private var contraryResultsAreUp = false
  private var flaps = FlapWindow()
  /// The number of failures since the last good result that came while no entry of `dependsOn` was broken.
  private var ownFailures = 0
  /// The reason of a change to `down` that is held until the parents are known.
  private var held: HeldChange?

  private struct HeldChange: Hashable {
    var reason: Reason?
  }

  /// Whether the last results contradict the state, but not yet enough of them, or a change is held.
  public var isPending: Bool { contraryResults > 0 || isWaitingForDependency }
  /// Whether a change to `down` is held until the results of the parents are known.
  public var isWaitingForDependency: Bool { held != nil }
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
    dependency = stored.dependency
    consecutiveFailures = stored.consecutiveFailures
    flaps = FlapWindow(changes: stored.flapBits, last: stored.wasUp, isFlapping: stored.isFlapping)
  }

  /// What a later process restores.
  public var restorable: Restorable {
    Restorable(
      state: state, reason: reason, since: since, consecutiveFailures: consecutiveFailures, flapBits: flaps.changes,
      wasUp: flaps.last, isFlapping: flaps.isFlapping, dependency: dependency)
  }

  /// Processes a result; ignored while paused.
  ///
  /// - Parameters:
  ///   - result: the result.
  ///   - definition: the target.
  ///   - root: the target at the root of an outage that breaks an entry of `dependsOn`; nil while all entries are intact.
  ///   - time: the present time.
  public mutating func take(
    _ result: CheckResult, _ definition: TargetDefinition, brokenBy root: String? = nil, at time: Timestamp
  ) {
    guard state != .paused else { return }
    lastResult = result
    switch result.state {
    case .up: (consecutiveFailures, ownFailures) = (0, 0)
    case .down, .unknown: consecutiveFailures += 1
    case .unreachable: break
    }
    if root == nil, result.state == .up || result.state == .down { flaps.note(isUp: result.state == .up) }
    let next = TargetState(result.state)
    let isUp = next == .up
    if next == .down, state != .down, !definition.dependsOn.isEmpty {
      return takeFailure(result.reason, definition, brokenBy: root, at: time)
    }
    // Only a good result and a lost route end what is held.
    if next == .unknown, isWaitingForDependency { return }
    if next == state || next == .unreachable || state == .unknown || state == .unreachable && isUp {
      return transition(next, result.reason, at: time)
    }
    contraryResults = contraryResultsAreUp == isUp ? contraryResults + 1 : 1
    contraryResultsAreUp = isUp
    if contraryResults >= (isUp ? definition.rise : definition.fall) { transition(next, result.reason, at: time) }
  }

  /// Processes a failure of a target with dependencies that is not `down`.
  private mutating func takeFailure(
    _ reason: Reason?, _ definition: TargetDefinition, brokenBy root: String?, at time: Timestamp
  ) {
    if root == nil { ownFailures += 1 }
    if state == .unreachable, let root {
      // It does not describe the target.
      transition(.unreachable, .dependencyDown, at: time)
      dependency = root
      return
    }
    // While a change is held, further failures neither count nor prolong it.
    guard held == nil else { return }
    contraryResults = contraryResultsAreUp ? 1 : contraryResults + 1
    contraryResultsAreUp = false
    // They add up over several recoveries of a parent that flaps, and only a good result ends that.
    let failures = self.reason == .dependencyDown ? ownFailures : contraryResults
    if state == .unknown || failures >= definition.fall { held = HeldChange(reason: reason) }
  }

  /// Completes a change to `down` that is held; nothing happens when none is.
  ///
  /// - Parameters:
  ///   - root: the target at the root of the outage that is the cause; nil when all entries are intact.
  ///   - definition: the target.
  ///   - time: the present time.
  public mutating func decide(brokenBy root: String?, _ definition: TargetDefinition, at time: Timestamp) {
    guard let change = held else { return }
    guard let root else {
      guard ownFailures >= (state == .unknown ? 1 : definition.fall) else {
        // An outage that has ended meanwhile explains the others.
        (held, contraryResults) = (nil, max(1, ownFailures))
        return
      }
      return transition(.down, change.reason, at: time)
    }
    transition(.unreachable, .dependencyDown, at: time)
    dependency = root
  }

  /// Ends a change to `down` that is held, without it: the target is changed.
  public mutating func endWaiting() { held = nil }

  /// Sets the root of the outage that is the cause of the state, which another result has shown.
  ///
  /// - Parameter root: the root; ignored when no dependency is the cause.
  public mutating func setDependency(_ root: String) { if reason == .dependencyDown { dependency = root } }

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
    dependency = nil
    contraryResults = 0
    held = nil
  }
}
