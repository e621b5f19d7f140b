package import JSONFormat
package import ReachabilityChecks
package import ReachabilityModel
internal import StatusAPI

/// The result of a wait for targets as JSON.
package enum WaitFormatter {
  /// The last result for one target.
  package enum Outcome: Sendable {
    /// The verdict for a host; nil before the first one.
    case host(HostVerdict?)
    /// The outcome of a check; nil before the first one.
    case check(CheckOutcome?)
    /// The document of a gate; nil before the first one.
    case gate(JSON?)
  }

  /// Returns the document on one line.
  ///
  /// - Parameters:
  ///   - isFulfilled: whether the wait ended before its timeout.
  ///   - results: each target, whether it fulfils the condition, and its last result.
  /// - Returns: `{"fulfilled": …, "results": [{"target": …, "fulfilled": …, "host": …}]}`, with `check` for checks and `gate` for gates.
  package static func json(
    isFulfilled: Bool, _ results: [(target: String, isFulfilled: Bool, outcome: Outcome)]
  ) -> String {
    let items = results.map { result -> JSON in
      let member: JSON.Member =
        switch result.outcome {
        case .host(let verdict):
          .init(
            name: "host",
            value: verdict.map {
              HostRepresentation.document($0, host: $0.target.scopedHost, evaluatedAt: .now)
            } ?? .null)
        case .check(let outcome):
          .init(name: "check", value: outcome.map { CheckRepresentation.document([$0]) } ?? .null)
        case .gate(let document): .init(name: "gate", value: document ?? .null)
        }
      return .object([
        .init(name: "target", value: .string(result.target)),
        .init(name: "fulfilled", value: .bool(result.isFulfilled)), member,
      ])
    }
    let document = JSON.members(["fulfilled": .bool(isFulfilled), "results": .array(items)])
    return String(decoding: document.bytes, as: UTF8.self)
  }
}
