internal import EmbeddedHTTPServer
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityChecks

/// All registered targets in columns: one request for a page that shows all of them, and one twentieth of the bytes.
///
/// States, reasons and label sets are numbers that refer to lists in the same document.
struct TargetOverview {
  /// The bits of `flags`.
  private enum Flag {
    static let pending: Int64 = 1
    static let flapping: Int64 = 2
  }

  private var ids: [JSON] = [], targets: [JSON] = [], states: [JSON] = [], reasons: [JSON] = []
  private var labels: [JSON] = [], since: [JSON] = [], flags: [JSON] = [], latencies: [JSON] = []
  private var reasonNames: [JSON] = [.null]
  private var reasonNumbers: [String: Int64] = [:]
  private var labelSets: [JSON] = []
  private var labelNumbers: [[String: String]: Int64] = [:]
  private static let stateNames = TargetState.allCases
  private static let stateNumbers = Dictionary(
    uniqueKeysWithValues: stateNames.enumerated().map { ($0.element, Int64($0.offset)) })

  init(_ reports: [TargetReport], _ visibility: TargetVisibility) {
    for report in reports { add(report, visibility) }
  }

  private mutating func add(_ report: TargetReport, _ visibility: TargetVisibility) {
    let (definition, status) = (report.definition, report.status)
    ids.append(.string(definition.id))
    targets.append(.string(visibility.text(definition.target)))
    states.append(.integer(Self.stateNumbers[status.state] ?? 0))
    reasons.append(.integer(number(of: status.reason)))
    labels.append(.integer(number(of: definition.labels)))
    since.append(.integer(status.since.microseconds / 1000))
    flags.append(.integer((status.isPending ? Flag.pending : 0) | (status.isFlapping ? Flag.flapping : 0)))
    let answer = status.lastResult.flatMap { $0.state == .up ? $0.duration : nil }
    latencies.append(answer.map { .integer(Int64(($0 / .microseconds(1)).rounded())) } ?? .null)
  }

  private mutating func number(of reason: Reason?) -> Int64 {
    guard let reason else { return 0 }
    if let number = reasonNumbers[reason.rawValue] { return number }
    let number = Int64(reasonNames.count)
    reasonNames.append(.string(reason.rawValue))
    reasonNumbers[reason.rawValue] = number
    return number
  }

  private mutating func number(of set: [String: String]) -> Int64 {
    if let number = labelNumbers[set] { return number }
    let number = Int64(labelSets.count)
    labelSets.append(
      .object(set.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }))
    labelNumbers[set] = number
    return number
  }

  /// Returns the document; every column has one element per target, in the order of the ids.
  ///
  /// - Parameters:
  ///   - hasHistory: whether the service keeps a history.
  ///   - columns: further columns.
  /// - Returns: the document.
  func document(hasHistory: Bool, _ columns: [JSON.Member] = []) -> JSON {
    guard
      case .object(let members) = JSON.members([
        "history": .bool(hasHistory), "states": .array(Self.stateNames.map { .string($0.rawValue) }),
        "reasons": .array(reasonNames),
        "labels": .array(labelSets), "id": .array(ids), "target": .array(targets), "state": .array(states),
        "reason": .array(reasons), "label": .array(labels), "since": .array(since), "flags": .array(flags),
        "latency": .array(latencies),
      ])
    else { return .null }
    return .object(members + columns)
  }
}
