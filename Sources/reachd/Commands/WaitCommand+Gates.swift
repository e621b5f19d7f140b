internal import ArgumentParser
internal import ReachabilityChecks
internal import StatusClient

// Waiting for gates, alone or together with targets.
extension WaitCommand {
  static let gatePrefix = "gate:"

  /// The connection to the service that has the gates.
  func client() throws -> ClientOptions {
    do {
      return try ClientOptions.parse(service.map { ["--url", $0] } ?? [])
    } catch {
      throw ValidationError("--service: \(ClientOptions.message(for: error))")
    }
  }

  /// What became of the targets, or of the gates.
  struct Outcome: Sendable {
    var isFulfilled: Bool
    var results: [Result]
    var failure: ExitCode?
  }

  /// Waits for targets and gates at the same time; with `--any`, the first of both ends the wait.
  func wait(
    for targets: [CheckTarget], _ monitor: ReachabilityMonitor?, _ gates: GateWait, _ timeLimit: Duration
  ) async -> [Outcome] {
    let command = self
    return await withTaskGroup(of: Outcome.self) { group in
      if let monitor {
        group.addTask {
          // Routes alone need no periodic checks, because the kernel reports their changes.
          let (isFulfilled, results) =
            targets.allSatisfy { $0.scheme == .route }
            ? await command.routes(targets, monitor, timeLimit)
            : await command.checks(targets, Checker(monitor: monitor), timeLimit)
          return Outcome(isFulfilled: isFulfilled, results: results)
        }
      }
      if !gates.ids.isEmpty { group.addTask { await command.wait(for: gates, timeLimit) } }
      var outcomes: [Outcome] = []
      for await outcome in group {
        outcomes.append(outcome)
        if outcome.failure != nil || any && outcome.isFulfilled { group.cancelAll() }
      }
      return outcomes
    }
  }

  private func wait(for gates: GateWait, _ timeLimit: Duration) async -> Outcome {
    switch await gates.run(within: timeLimit) {
    case .failed(let code): return Outcome(isFulfilled: false, results: [], failure: code)
    case .ended(let isFulfilled, let answers):
      return Outcome(
        isFulfilled: isFulfilled,
        results: answers.map {
          Result(target: Self.gatePrefix + $0.id, outcome: .gate($0.document), diagnostic: $0.diagnostic)
        })
    }
  }
}
