internal import Locks
internal import ReachabilityModel

/// Collects the latest verdict for each target of a wait, and evaluates its condition.
final class VerdictCollector: Sendable {
  private struct State {
    /// In the order of their first arrival; the condition receives this array, so that it is not copied for each verdict.
    var verdicts: [HostVerdict] = []
    var positions: [ReachabilityTarget: Int] = [:]
    var isEvaluated = false
    var isFulfilled = false
  }

  private let count: Int
  private let state = Locked(State())

  init(count: Int) { self.count = count }

  /// The verdicts for those targets that have one, in their order, each once.
  func verdicts(of targets: [ReachabilityTarget]) -> [HostVerdict] {
    state.withLock { state in
      var left = state.positions
      return targets.compactMap { left.removeValue(forKey: $0) }.map { state.verdicts[$0] }
    }
  }

  var isEvaluated: Bool { state.withLock(\.isEvaluated) }

  /// The condition's last result.
  var isFulfilled: Bool { state.withLock(\.isFulfilled) }

  /// Stores a verdict and, when all are known, evaluates the condition.
  ///
  /// - Returns: whether it was evaluated.
  func add(_ verdict: HostVerdict, _ condition: ([HostVerdict]) -> Bool) -> Bool {
    let known = state.withLock { state -> [HostVerdict]? in
      if let position = state.positions[verdict.target] {
        state.verdicts[position] = verdict
      } else {
        state.positions[verdict.target] = state.verdicts.count
        state.verdicts.append(verdict)
      }
      return state.verdicts.count == count ? state.verdicts : nil
    }
    guard let known else { return false }
    let isFulfilled = condition(known)
    state.withLock { state in
      state.isEvaluated = true
      state.isFulfilled = isFulfilled
    }
    return true
  }
}
