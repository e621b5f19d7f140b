package import JSONFormat
package import ReachabilityModel

/// The state of a service as a client has received it: its machine, all targets in their order, and the newest events.
package struct TopServiceState: Sendable {
  /// The events that are kept; a screen shows fewer.
  private static let eventLimit = 200

  /// The machine; nil before the first document.
  package private(set) var machine: TopMachineState?
  /// The newest events, the newest first.
  package private(set) var events: [TopServiceEvent] = []
  /// The number of targets in each state, without those that are down for some agents only.
  package private(set) var counts: [TargetState: Int] = [:]
  /// The number of targets of a fleet that are down for some agents only.
  package private(set) var partialCount = 0
  /// The gates, those that are closed first.
  package internal(set) var gates: [TopGate] = []
  private var entries: [String: TopTargetEntry] = [:]
  /// The order of all targets, in which an event moves one, so that its cost is not that of sorting.
  private var order: [TopTargetEntry.Order] = []
  /// The part of it that the filter selects; nil without a filter.
  private var selected: [TopTargetEntry.Order]?
  /// The words that a target must contain in its id, URL, reason or labels, without regard to case.
  private var words: [Substring] = []

  /// Creates the state before the first document.
  package init() {}

  /// The number of targets that are shown.
  package var targetCount: Int { shown.count }
  /// Whether there are targets, also ones that the filter leaves out.
  package var hasTargets: Bool { !order.isEmpty }

  private var shown: [TopTargetEntry.Order] { selected ?? order }

  /// Shows only targets that contain all words of a text; an empty text shows all.
  package mutating func filter(by text: String) {
    words = text.lowercased().split(separator: " ")
    selected = words.isEmpty ? nil : order.filter { entries[$0.id].map(isSelected) ?? false }
  }

  private func isSelected(_ entry: TopTargetEntry) -> Bool {
    let content = ([entry.id, entry.target, entry.reason ?? "", entry.word] + entry.labels).joined(separator: "\n")
      .lowercased()
    return words.allSatisfy { content.contains($0) }
  }

  package subscript(id: String) -> TopTargetEntry? { entries[id] }

  /// Returns the targets at some positions; positions beyond the end are ignored.
  package func targets(in positions: Range<Int>) -> [TopTargetEntry] {
    shown[positions.clamped(to: shown.indices)].compactMap { entries[$0.id] }
  }

  /// Returns all shown targets in their order.
  package var targets: [TopTargetEntry] { targets(in: shown.indices) }

  /// Returns the position of a target; nil if none with this id is shown.
  package func position(of id: String) -> Int? {
    guard let entry = entries[id] else { return nil }
    let (list, position) = (shown, Self.position(of: entry.order, in: shown))
    return list.indices.contains(position) && list[position].id == id ? position : nil
  }

  /// Replaces all targets; false if the document is not an overview.
  package mutating func replaceTargets(_ overview: JSON) -> Bool {
    guard let list = TopTargetEntry.entries(overview) else { return false }
    replace(list, ofFleet: false)
    return true
  }

  package mutating func replaceFleet(_ targets: [TopTargetEntry]) { replace(targets, ofFleet: true) }

  private mutating func replace(_ targets: [TopTargetEntry], ofFleet: Bool) {
    let others = entries.values.filter { $0.isOfFleet != ofFleet }
    // Of two with one id, that of the fleet is shown.
    let all = ofFleet ? others + targets : targets + others
    entries = Dictionary(all.map { ($0.id, $0) }) { $1 }
    order = entries.values.map(\.order).sorted()
    filter(by: words.joined(separator: " "))
    counts = [:]
    partialCount = 0
    for entry in entries.values { count(entry, 1) }
  }

  private mutating func count(_ entry: TopTargetEntry, _ difference: Int) {
    if entry.isPartial { partialCount += difference } else { counts[entry.state, default: 0] += difference }
  }

  /// Applies an event of the stream; the overview may include it already.
  package mutating func apply(type: String, _ data: JSON) {
    switch type {
    case "snapshot": machine = TopMachineState(data) ?? machine
    case "status", "path": machine = data["status"].flatMap(TopMachineState.init) ?? machine
    case "target": applyTarget(data)
    case "gate": applyGate(data)
    case "verdict": change(data["target"]?.string ?? "") { $0.apply(verdict: data) }
    case "definition": applyDefinition(data)
    default: break
    }
    guard let event = TopServiceEvent(type: type, data) else { return }
    events.insert(event, at: 0)
    if events.count > Self.eventLimit { events.removeLast() }
  }

  /// Adds events of the time before the stream, from the response of `GET /events`.
  package mutating func addPast(_ document: JSON) {
    let known = Set(events.compactMap(\.id))
    let past = (document.elements ?? []).compactMap { data in
      data["type"]?.string.flatMap { TopServiceEvent(type: $0, data) }
    }
    events += past.filter { event in event.id.map { !known.contains($0) } ?? true }
    events.sort { $0.time > $1.time }
    events.removeLast(max(0, events.count - Self.eventLimit))
  }

  private mutating func applyTarget(_ data: JSON) {
    guard let document = data["target"], let id = document["id"]?.string else { return }
    let old = entries[id]
    // The service's own target has the id of one of the fleet.
    guard old?.isOfFleet != true else { return }
    if let old { remove(old) }
    var latency = old?.latency
    switch data["durationSeconds"] {
    case .number(let seconds)?: latency = TerminalAge.microseconds(seconds)
    case .integer(let seconds)?: latency = TerminalAge.microseconds(Double(seconds))
    default: break
    }
    guard data["removed"] != .bool(true), let entry = TopTargetEntry(document, latency: latency) else { return }
    insert(entry)
  }

  /// Applies a definition of a fleet's target; a new one is unknown until its first verdict.
  private mutating func applyDefinition(_ data: JSON) {
    guard let id = data["target"]?.string, let time = data["time"]?.string.flatMap({ Timestamp($0) }) else { return }
    guard let definition = data["definition"], definition != .null else {
      if let old = entries[id], old.isOfFleet { remove(old) }
      return
    }
    if entries[id]?.isOfFleet != true {
      if let own = entries[id] { remove(own) }
      insert(
        TopTargetEntry(
          id: id, target: "", state: .unknown, reason: nil, labels: [], since: time.microseconds / 1000,
          isPending: false,
          isFlapping: false, latency: nil, isOfFleet: true))
    }
    change(id) { $0.apply(definition: definition) }
  }

  private mutating func change(_ id: String, _ body: (inout TopTargetEntry) -> Void) {
    guard var entry = entries[id], entry.isOfFleet else { return }
    remove(entry)
    body(&entry)
    insert(entry)
  }

  private mutating func insert(_ entry: TopTargetEntry) {
    entries[entry.id] = entry
    Self.insert(entry.order, into: &order)
    if var list = selected, isSelected(entry) {
      selected = nil
      Self.insert(entry.order, into: &list)
      selected = list
    }
    count(entry, 1)
  }

  private mutating func remove(_ entry: TopTargetEntry) {
    entries[entry.id] = nil
    Self.remove(entry.order, from: &order)
    if var list = selected {
      selected = nil
      Self.remove(entry.order, from: &list)
      selected = list
    }
    count(entry, -1)
  }

  private static func insert(_ element: TopTargetEntry.Order, into list: inout [TopTargetEntry.Order]) {
    list.insert(element, at: position(of: element, in: list))
  }

  private static func remove(_ element: TopTargetEntry.Order, from list: inout [TopTargetEntry.Order]) {
    let position = position(of: element, in: list)
    if list.indices.contains(position), list[position].id == element.id { list.remove(at: position) }
  }

  /// Returns the position of an element, or where to insert it (binary search).
  private static func position(of element: TopTargetEntry.Order, in list: [TopTargetEntry.Order]) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
