internal import Dispatch
internal import ReachabilityFleet

/// Asks agents to check targets, and receives their answers.
struct FleetQuestioner: Sendable {
  private let members: any FleetEngine
  private let queue: DispatchQueue

  /// Creates one that completes on a queue.
  init(_ members: any FleetEngine, _ queue: DispatchQueue) { (self.members, self.queue) = (members, queue) }

  /// Asks an agent; again, while too many answers are awaited.
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - deadline: when the answer must have arrived.
  ///   - complete: receives the results, on the queue; nil when there is no answer.
  func ask(
    _ question: FleetQuestion, until deadline: Duration, _ complete: @escaping @Sendable ([FleetCheckResult]?) -> Void
  ) {
    let left = deadline - FleetService.now
    guard left > .zero else { return queue.async { complete(nil) } }
    members.request(
      FleetWire.encode(.check(targets: question.targets)), on: .ask(question.agent), within: left
    ) { [self] result in
      if case .failure(.failed) = result {
        return queue.asyncAfter(deadline: .now() + FleetLimits.questionRepetition.timeInterval) {
          ask(question, until: deadline, complete)
        }
      }
      let reply = (try? result.get()).flatMap { FleetWire.reply($0) }
      let results: [FleetCheckResult]? = if case .results(let found)? = reply { found } else { nil }
      queue.async { complete(results) }
    }
  }
}
