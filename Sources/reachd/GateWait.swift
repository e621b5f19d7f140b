internal import ArgumentParser
internal import Dispatch
internal import JSONFormat
internal import Locks
internal import ReachabilityModel
internal import StatusClient
internal import TextSyntax

/// Waits until gates of a service are open, or closed, for `reachd wait gate:ID`.
struct GateWait: Sendable {
  /// The last answer for a gate.
  struct Answer: Sendable {
    var id: String
    /// The document; nil when there is none.
    var document: JSON?
    /// Why the gate does not fulfil the condition; nil when it does.
    var diagnostic: String?
  }

  enum Outcome: Sendable {
    case ended(isFulfilled: Bool, [Answer])
    /// The service refuses the token, or there is none, or the configuration is wrong; the problem was printed.
    case failed(ExitCode)
  }

  /// The time between two requests for a gate.
  private static let period = Duration.seconds(1)
  /// The longest wait for one response: another request may be answered by another process of the service.
  private static let longestRequest = Duration.seconds(5)

  var ids: [String]
  var client: ClientOptions
  var source: SourceOptions
  /// Whether one of the gates is enough.
  var isAny: Bool
  /// Whether the gates must be closed.
  var isNegated: Bool

  /// Requests the gates until they fulfil the condition, the time is over or the task is cancelled.
  func run(within limit: Duration) async -> Outcome {
    let end = Latch()
    let waiting = Locked<CheckedContinuation<Outcome, Never>?>(nil)
    @Sendable func resume(_ outcome: Outcome) { waiting.withLock { $0.take() }?.resume(returning: outcome) }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0 = continuation }
        // A queue of its own, because requests block.
        DispatchQueue(label: "gates").async { resume(wait(within: limit, until: end)) }
        if Task.isCancelled { resume(.ended(isFulfilled: false, [])) }
      }
    } onCancel: {
      end.open()
      // Not after the request under way: a service that does not respond must not delay the start of a command.
      resume(.ended(isFulfilled: false, []))
    }
  }

  private func wait(within limit: Duration, until end: Latch) -> Outcome {
    let deadline = ContinuousClock.now + limit
    var last: [Answer] = []
    while true {
      var answers: [Answer] = []
      for (number, id) in ids.enumerated() {
        let left = deadline - .now
        do {
          let answer = try answer(id, within: left)
          // The end of the time says less about the gate than the answer before it.
          let isCut = answer.document == nil && left < Self.longestRequest
          answers.append(isCut ? last.dropFirst(number).first ?? answer : answer)
        } catch {
          return .failed(error as? ExitCode ?? ExitStatus.undetermined)
        }
      }
      let count = answers.count { $0.diagnostic == nil }
      if isAny ? count > 0 : count == answers.count { return .ended(isFulfilled: true, answers) }
      last = answers
      let left = deadline - ContinuousClock.now
      guard left > .zero, !end.wait(atMost: min(left, Self.period)) else {
        return .ended(isFulfilled: false, answers)
      }
    }
  }

  /// Requests a gate once.
  ///
  /// - Parameters:
  ///   - id: the gate.
  ///   - limit: the time that is left for the response.
  /// - Returns: the answer, also when there is no response.
  /// - Throws: the exit code of a problem that does not end by itself.
  private func answer(_ id: String, within limit: Duration) throws -> Answer {
    var client = client
    client.timeout = DurationFormat.shortest(max(.milliseconds(1), min(limit, Self.longestRequest)))
    let response: HTTPClient.Response
    do {
      response = try client.send("/gates/\(PercentEncoding.encoded(id))", accept: "application/json", source)
    } catch let code as ExitCode {
      throw code
    } catch {
      return Answer(id: id, diagnostic: "gate:\(id): \(error)")
    }
    guard ![401, 403].contains(response.status) else {
      Terminal.writeError("reachd: gate:\(id): \(response.problem)")
      throw ExitStatus.permission
    }
    guard response.status == 200, let document = try? JSON.parse(response.body),
      let state = document["state"]?.string, let line = GateFormatter.line(document)
    else { return Answer(id: id, diagnostic: "gate:\(id): \(response.problem)") }
    let isFulfilled = isNegated ? state == "closed" : state == "open"
    return Answer(id: id, document: document, diagnostic: isFulfilled ? nil : "gate:\(id): \(line)")
  }
}
