internal import JSONFormat
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

  private var ids = JSONArrayEncoder(), targets = JSONArrayEncoder(), states = JSONArrayEncoder()
  private var reasons = JSONArrayEncoder(), labels = JSONArrayEncoder(), since = JSONArrayEncoder()
  private var flags = JSONArrayEncoder(), latencies = JSONArrayEncoder()
  private var reasonNames: [JSON] = [.null]
  private var reasonNumbers: [String: Int64] = [:]
  private var roots = JSONArrayEncoder()
  private var rootNames: [JSON] = [.null]
  private var rootNumbers: [String: Int64] = [:]
  private var labelSets: [JSON] = []
  private var labelNumbers: [[String: String]: Int64] = [:]
  private static let stateNames = TargetState.allCases
  private static let stateNumbers = Dictionary(
    uniqueKeysWithValues: stateNames.enumerated().map { ($0.element, Int64($0.offset)) })

  init(_ reports: [TargetReport], _ visibility: TargetVisibility) {
    // A span lends its elements; the elements of a loop over an array are copies, with all that they refer to.
    let span = reports.span
    for index in span.indices { add(span[index], visibility) }
  }

  private mutating func add(_ report: TargetReport, _ visibility: TargetVisibility) {
    let (definition, status) = (report.definition, report.status)
    ids.append(definition.id)
    targets.append(visibility.text(definition.target))
    states.append(Self.stateNumbers[status.state])
    reasons.append(Self.number(of: status.reason?.rawValue, in: &reasonNames, &reasonNumbers))
    roots.append(Self.number(of: status.dependency, in: &rootNames, &rootNumbers))
    labels.append(number(of: definition.labels))
    since.append(status.since.microseconds / 1000)
    flags.append((status.isPending ? Flag.pending : 0) | (status.isFlapping ? Flag.flapping : 0))
    let answer = status.lastResult.flatMap { $0.state == .up ? $0.duration : nil }
    latencies.append(answer.map { Int64(($0 / .microseconds(1)).rounded()) })
  }

  private static func number(of name: String?, in names: inout [JSON], _ numbers: inout [String: Int64]) -> Int64 {
    guard let name else { return 0 }
    if let number = numbers[name] { return number }
    let number = Int64(names.count)
    names.append(.string(name))
    numbers[name] = number
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
  /// - Returns: the document, encoded.
  func document(hasHistory: Bool, _ columns: [JSON.Member] = []) -> [UInt8] {
    let lists: [(name: String, value: [UInt8])] = [
      ("history", JSON.bool(hasHistory).bytes), ("states", JSON.list(Self.stateNames.map(\.rawValue)).bytes),
      ("reasons", JSON.array(reasonNames).bytes), ("labels", JSON.array(labelSets).bytes),
      ("id", ids.bytes), ("target", targets.bytes), ("state", states.bytes), ("reason", reasons.bytes),
      ("label", labels.bytes), ("since", since.bytes), ("flags", flags.bytes), ("latency", latencies.bytes),
    ]
    let outages = [("dependencies", JSON.array(rootNames).bytes), ("dependency", roots.bytes)]
    return JSON.object(
      encoded: lists + (rootNames.count > 1 ? outages : []) + columns.map { ($0.name, $0.value.bytes) })
  }
}
