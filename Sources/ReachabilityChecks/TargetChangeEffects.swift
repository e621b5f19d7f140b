internal import ReachabilityModel

/// The result of a change of a target, and its effects, which run without the schedule's lock.
struct TargetChangeEffects: Sendable {
  var result: TargetPutResult
  var cancellation: (any CheckCancellation)?
  /// Callers whose result does not come, because the target was paused or removed.
  var waiting: [TargetRegistry.Waiter] = []
  var publish: @Sendable () -> Void = {}

  func run() {
    publish()
    cancellation?.cancel()
    for completion in waiting { completion(nil) }
  }
}
