internal import JSONFormat
package import ReachabilityModel

/// A registered target of a service, as in the overview and its events.
package struct TopTargetEntry: Sendable, Equatable {
  package var id: String
  package var target: String
  package var state: TargetState
  /// Why it is not up; for an outage of another target with its id.
  package var reason: String?
  /// Its labels, ordered by name.
  package var labels: [String]
  /// The beginning of the state, in milliseconds since 1970.
  package var since: Int64
  /// Whether the last results contradict the state.
  package var isPending: Bool
  /// Whether it changes its state often.
  package var isFlapping: Bool
  /// The latency of the last check, in microseconds.
  package var latency: Int64?
  /// Whether it is a target of a fleet, whose state is the verdict of all agents.
  package var isOfFleet = false
  /// Whether only some agents of a fleet say that it is down.
  package var isPartial = false

  package var word: String { isPartial ? "partial" : state.rawValue }
}

extension TopTargetEntry {
  /// The position in the list: the most urgent state first, then the longest, then the id.
  struct Order: Comparable {
    var rank: Int
    var since: Int64
    var id: String

    static func < (left: Order, right: Order) -> Bool {
      if left.rank != right.rank { return left.rank < right.rank }
      return left.since != right.since ? left.since < right.since : left.id < right.id
    }
  }

  /// States, the most urgent first.
  package static let states: [TargetState] = [.down, .unreachable, .unknown, .up, .paused]
  private static let ranks = Dictionary(uniqueKeysWithValues: states.enumerated().map { ($0.element, $0.offset) })

  var order: Order {
    Order(rank: 2 * (Self.ranks[state] ?? Self.states.count) + (isPartial ? 1 : 0), since: since, id: id)
  }

  /// Reads the member `target` of a `target` event; nil for another document.
  init?(_ document: JSON, latency: Int64?) {
    guard let id = document["id"]?.string, let target = document["target"]?.string,
      let state = document["state"]?.string.flatMap(TargetState.init),
      let since = document["since"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    self.init(
      id: id, target: target, state: state,
      reason: Self.reason(document["reason"]?.string, document["dependency"]?.string),
      labels: Self.labels(document["labels"]),
      since: since.microseconds / 1000, isPending: document["pending"] == .bool(true),
      isFlapping: document["flapping"] == .bool(true), latency: latency)
  }

  private static func reason(_ reason: String?, _ dependency: String?) -> String? {
    dependency.map { "\(reason ?? "") \($0)" } ?? reason
  }

  static func labels(_ document: JSON?) -> [String] {
    (document?.members ?? []).map { "\($0.name)=\($0.value.string ?? "")" }.sorted()
  }

  /// Reads the columns of `GET /targets/overview`; nil for another document.
  static func entries(_ overview: JSON) -> [TopTargetEntry]? {
    let states = (overview["states"]?.elements ?? []).map { $0.string.flatMap(TargetState.init) }
    let reasons = (overview["reasons"]?.elements ?? []).map(\.string)
    let labels = (overview["labels"]?.elements ?? []).map { Self.labels($0) }
    let roots = (overview["dependencies"]?.elements ?? []).map(\.string)
    let root = overview["dependency"]?.elements ?? []
    func column(_ name: String) -> [JSON]? { overview[name]?.elements }
    func number(_ value: JSON) -> Int64? { if case .integer(let number) = value { number } else { nil } }
    guard let ids = column("id"), let targets = column("target"), let state = column("state"),
      let reason = column("reason"), let label = column("label"), let since = column("since"),
      let flags = column("flags"), let latency = column("latency"),
      [targets, state, reason, label, since, flags, latency].allSatisfy({ $0.count == ids.count })
    else { return nil }
    var entries: [TopTargetEntry] = []
    entries.reserveCapacity(ids.count)
    for index in ids.indices {
      guard let id = ids[index].string, let target = targets[index].string, let begin = number(since[index]),
        let state = element(states, number(state[index])) ?? nil, let bits = number(flags[index])
      else { return nil }
      entries.append(
        TopTargetEntry(
          id: id, target: target, state: state,
          reason: Self.reason(
            element(reasons, number(reason[index])) ?? nil,
            root.indices.contains(index) ? element(roots, number(root[index])) ?? nil : nil),
          labels: element(labels, number(label[index])) ?? [], since: TerminalAge.clamped(milliseconds: begin),
          isPending: bits & 1 != 0,
          isFlapping: bits & 2 != 0, latency: number(latency[index])))
    }
    return entries
  }

  private static func element<Element>(_ list: [Element], _ index: Int64?) -> Element? {
    index.flatMap { list.indices.contains(Int($0)) ? list[Int($0)] : nil }
  }
}
