import FleetAPI
import JetStream
import ReachabilityFleet

/// An independent pass over a stream: every accepted verdict follows from the votes at its basis.
struct StreamAudit {
  /// The accepted verdicts in their order.
  private(set) var verdicts: [VerdictMessage] = []
  /// The verdicts that do not follow.
  private(set) var faults: [String] = []

  init(_ messages: [JetStreamMessage], created: Int64) {
    var fold = FleetFold(created: created)
    var judgements: [String: [UInt64: FleetJudgement]] = [:]
    for message in messages {
      let decoded = FleetWire.decode(message.payload, subject: message.subject)
      let events = fold.apply(decoded, sequence: message.sequence, time: message.time)
      for (id, target) in fold.targets where target.changedAt == message.sequence {
        judgements[id, default: [:]][message.sequence] = FleetJudgement(of: id, in: fold, after: nil)
      }
      for case .verdict(let verdict) in events.map(\.content) {
        verdicts.append(verdict)
        var judgement = judgements[verdict.target]?[verdict.basis]
        // What was down before another target failed stays down.
        if verdict.from == .down { judgement?.dependency = nil }
        if judgement?.verdict != verdict.to || judgement?.dependency != verdict.dependency {
          faults.append(
            "\(message.sequence): \(verdict.target) is \(verdict.to) by \(verdict.dependency ?? "its votes"), at "
              + "\(verdict.basis) it is \(judgement.map { "\($0.verdict)" } ?? "not judged")")
        }
      }
    }
  }
}
