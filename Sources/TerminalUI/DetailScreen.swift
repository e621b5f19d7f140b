internal import JSONFormat
internal import ReachabilityModel

/// Draws one target: its state, definition, last check and events.
struct DetailScreen {
  private let screen: TopScreen

  /// The columns of a bar that shows the longest phase of a check.
  private static let barColumns = 20

  init(_ screen: TopScreen) { self.screen = screen }

  func lines(_ model: TopModel, _ id: String) -> [StyledLine] {
    var title = screen.line
    title.append(id, .bold)
    // Small terminals have no line to spare.
    let space = screen.isTall ? [screen.line] : []
    guard let target = model.service[id] else { return space + [title] + text("The target was removed.") }
    var state = screen.line
    state.append(
      "\(screen.glyphs.state(target.state)) \(target.word)", screen.style(.state(target.state), model))
    state.append(" for \(screen.age(of: target.since))")
    if let reason = target.reason { state.append(": \(reason)") }
    if target.isPending { state.append(" (unconfirmed)", .warning) }
    if target.isFlapping { state.append(" (flapping)", .warning) }
    var lines = space + [title, state] + text(Self.meaning(of: target)) + text(target.target)
    if !target.labels.isEmpty { lines += text(target.labels.joined(separator: " ")) }
    switch model.document {
    case .target(_, let document) where target.isOfFleet: lines += agents(document, space)
    case .target(_, let document): lines += check(document, space)
    case .failed(_, let reason): lines += text(reason)
    case nil: lines += text("loading")
    }
    let events = model.service.events.filter { $0.targetID == id }
    if !events.isEmpty { lines += space + events.map(screen.event) }
    return lines
  }

  private func text(_ text: String) -> [StyledLine] { screen.wrapped(text) }

  private static func meaning(of target: TopTargetEntry) -> String {
    if target.isPartial { return "Some agents of the fleet reach the target, and others do not." }
    if target.isOfFleet { return "The verdict of the fleet's agents." }
    return switch target.state {
    case .up: "The target answers."
    case .down: "A path leads to the target, but it does not answer as expected."
    case .unreachable: "This machine has no path to the target, which may be well."
    case .unknown: "The check could not determine the state."
    case .paused: "The target is not checked."
    }
  }

  /// What each agent of a fleet says.
  private func agents(_ document: JSON, _ space: [StyledLine]) -> [StyledLine] {
    let agents = (document["vantages"]?.elements ?? []).map { vantage in
      ["agent", "zone", "state", "reason"].compactMap { vantage[$0]?.string }.filter { !$0.isEmpty }.joined(
        separator: " ")
    }
    return space + agents.flatMap { text("  \($0)") }
  }

  private func check(_ document: JSON, _ space: [StyledLine]) -> [StyledLine] {
    var definition = [document["module"]?.string].compactMap(\.self)
    if let interval = document["intervalSeconds"]?.seconds { definition.append("every \(Self.duration(interval))") }
    var lines = text(definition.joined(separator: ", "))
    guard let check = document["lastCheck"], let time = check["checkedAt"]?.string.flatMap({ Timestamp($0) }) else {
      return lines
    }
    let age = screen.age(of: time.microseconds / 1000)
    let address = check["address"]?.string.map { " \($0)" } ?? ""
    let latency = check["durationSeconds"]?.seconds.map { ", \(Self.latency($0))" } ?? ""
    lines += space + text("Last check \(age) ago:\(address)\(latency)")
    if let detail = check["detail"]?.string { lines += text("  \(detail)") }
    let phases = (check["phases"]?.members ?? []).compactMap { phase in phase.value.seconds.map { (phase.name, $0) } }
    let longest = phases.map(\.1).max() ?? 0
    for (name, seconds) in phases {
      let share = longest > 0 ? min(max(0, seconds / longest), 1) : 0
      let part = Int((share * Double(Self.barColumns)).rounded())
      var line = screen.line
      line.append("  ")
      line.append(column: name, 10)
      line.append(column: Self.latency(seconds), 9, isRightAligned: true)
      line.append(String(repeating: screen.glyphs.bar, count: part))
      lines.append(line)
    }
    return lines
  }

  private static func latency(_ seconds: Double) -> String {
    TerminalAge.latency(microseconds: TerminalAge.microseconds(seconds))
  }

  /// `500ms`, `10s`, `1m 30s`.
  private static func duration(_ seconds: Double) -> String {
    let milliseconds = TerminalAge.microseconds(seconds) / 1000
    return seconds < 1 ? "\(milliseconds)ms" : TerminalAge.text(milliseconds: milliseconds)
  }
}

extension JSON {
  /// A number; nil for other values.
  fileprivate var seconds: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}
