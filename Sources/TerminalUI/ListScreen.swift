internal import ReachabilityModel

/// Draws the list of targets, with titles and events where there is space.
struct ListScreen {
  private let screen: TopScreen

  init(_ screen: TopScreen) { self.screen = screen }

  func lines(_ model: TopModel) -> [StyledLine] {
    let targets = model.service.targets(in: model.top..<model.top + screen.targetRows(model))
    let widths = widths(targets)
    var lines = targets.map { row($0, model, widths) }
    if targets.isEmpty, model.connection.isLive(at: screen.now) {
      var line = screen.line
      line.append(
        model.service.hasTargets
          ? "No target matches." : "No targets. Register one: reachd targets add db tcp://db:5432")
      lines.append(line)
    }
    guard screen.isTall else { return lines }
    // A short list leaves its lines to the events.
    let free = max(0, screen.targetRows(model) - lines.count)
    if free > 0 { lines.append(screen.line) }
    let events = model.service.events.prefix(TopScreen.eventLines + max(0, free - 1))
    return [titles(widths)] + lines + [separator()] + events.map(screen.event)
  }

  /// The widths of the columns.
  private typealias Widths = (id: Int, target: Int, reason: Int)

  /// The widths of the columns for id, URL and reason: an id is cut after the URL.
  private func widths(_ targets: [TopTargetEntry]) -> Widths {
    let age = 8
    guard screen.isWide else {
      let flexible = max(0, screen.size.columns - 4 - 2 - age)
      let reason = min(16, flexible * 2 / 5)
      return (flexible - reason, 0, reason)
    }
    let flexible = screen.size.columns - 2 - 14 - 3 - age
    let reason = min(24, flexible / 3)
    let longest = targets.map { TextWidth.columns($0.id) + 1 }.max() ?? 0
    let id = min(max(longest, (flexible - reason) * 2 / 5), flexible - reason)
    return (id, flexible - reason - id, reason)
  }

  private func titles(_ widths: Widths) -> StyledLine {
    var line = screen.line
    line.append("  ")
    if screen.isWide { line.append(column: "STATE", 13) } else { line.append("  ") }
    line.append(column: "TARGET", widths.id)
    if screen.isWide { line.append(column: "URL", widths.target) }
    line.append(column: "REASON, LATENCY", widths.reason)
    line.append(TextWidth.fitted("FOR", max(0, line.rest), screen.glyphs, isRightAligned: true))
    return line
  }

  private func row(_ target: TopTargetEntry, _ model: TopModel, _ widths: Widths) -> StyledLine {
    var line = screen.line
    let isSelected = target.id == model.selection
    let glyph =
      target.isFlapping
      ? screen.glyphs.flapping : target.isPending ? screen.glyphs.pending : screen.glyphs.state(target.state)
    let unsteady = target.isFlapping || target.isPending
    line.append(isSelected ? "\(screen.glyphs.selection) " : "  ", .bold)
    line.append("\(glyph) ", screen.style(unsteady ? .warning : .state(target.state), model))
    if screen.isWide { line.append(column: target.word, 11, screen.style(.state(target.state), model)) }
    line.append(column: target.id, widths.id, isSelected ? .bold : .plain)
    if screen.isWide { line.append(column: target.target, widths.target) }
    let latency = target.latency.map(TerminalAge.latency) ?? ""
    line.append(column: target.state == .up ? latency : target.reason ?? "", widths.reason)
    line.append(TextWidth.fitted(screen.age(of: target.since), max(0, line.rest), screen.glyphs, isRightAligned: true))
    return line
  }

  private func separator() -> StyledLine {
    var line = screen.line
    line.append("Events", .bold)
    return line
  }
}
