internal import ReachabilityModel

/// Draws the model of `reachd top` as lines.
package struct TopScreen: Sendable {
  package let size: TerminalSize
  let glyphs: Glyphs
  /// The current time of this machine, in milliseconds since 1970.
  let now: Int64
  private let clockOffset: Int64

  /// The lines from which there is space for paths, titles and events.
  private static let tallLines = 16
  /// The columns from which a line has the URL of a target.
  private static let wideColumns = 60
  /// The number of events below the list of a tall screen.
  static let eventLines = 3

  /// Creates the drawing for a moment; `clockOffset` is that of the model.
  package init(_ size: TerminalSize, _ glyphs: Glyphs, now: Int64, clockOffset: Int64 = 0) {
    (self.size, self.glyphs, self.now, self.clockOffset) = (size, glyphs, now, clockOffset)
  }

  /// Returns the time since something on the service, whose time is in milliseconds since 1970.
  func age(of time: Int64) -> String {
    TerminalAge.text(milliseconds: now + clockOffset - TerminalAge.clamped(milliseconds: time))
  }

  var isTall: Bool { size.lines >= Self.tallLines }
  var isWide: Bool { size.columns >= Self.wideColumns }
  var line: StyledLine { StyledLine(width: size.columns, glyphs) }

  /// The number of lines of the head.
  private func headLines(_ model: TopModel) -> Int { isTall ? hasGates(model) ? 6 : 5 : 2 }

  /// The number of targets that the list shows.
  func targetRows(_ model: TopModel) -> Int {
    max(0, size.lines - headLines(model) - 1 - (isTall ? Self.eventLines + 2 : 0))
  }

  /// The number of lines between the head and the last line.
  private func textRows(_ model: TopModel) -> Int { max(0, size.lines - 1 - headLines(model)) }

  /// The number of targets or lines of text that a model shows, by which keys move a page.
  package func rows(_ model: TopModel) -> Int { model.mode == .list ? targetRows(model) : textRows(model) }

  /// Moves the window of a model so that it shows the selection, and no empty lines.
  package func scroll(_ model: inout TopModel) {
    model.scroll(rows: targetRows(model))
    model.scrollText(lines: text(model).count, rows: textRows(model))
  }

  /// Returns as many lines as the terminal has.
  ///
  /// - Parameters:
  ///   - model: the model after ``scroll(_:)``.
  ///   - host: the service's address.
  /// - Returns: the lines.
  package func lines(_ model: TopModel, host: String) -> [StyledLine] {
    var lines = head(model, host)
    switch model.mode {
    case .list: lines += ListScreen(self).lines(model)
    case .detail, .help: lines += text(model).dropFirst(model.textTop)
    }
    // The last line always shows the connection or the keys.
    lines = Array(lines.prefix(max(0, size.lines - 1)))
    lines += Array(repeating: line, count: max(0, size.lines - 1 - lines.count))
    lines.append(foot(model))
    return Array(lines.suffix(size.lines))
  }

  /// The lines that scroll: the details of a target, or the help.
  private func text(_ model: TopModel) -> [StyledLine] {
    switch model.mode {
    case .list: []
    case .detail(let id): DetailScreen(self).lines(model, id)
    case .help: help()
    }
  }

  // MARK: - Head

  private func head(_ model: TopModel, _ host: String) -> [StyledLine] {
    guard isTall else { return [verdict(model, hasPath: true), counts(model)] }
    var first = line
    first.append("reachd", .bold)
    first.append(" \(host)")
    append(model.connection, to: &first)
    return [first, verdict(model, hasPath: false)] + paths(model) + [counts(model)]
      + (hasGates(model) ? [gates(model)] : [])
  }

  private func append(_ connection: TopServiceConnection, to line: inout StyledLine) {
    if connection.isLive(at: now) {
      line.append(rightAligned: "\(glyphs.live) live", .state(.up))
    } else {
      line.append(rightAligned: "\(glyphs.disconnected) not live", .warning)
    }
  }

  private func verdict(_ model: TopModel, hasPath: Bool) -> StyledLine {
    var line = line
    guard let machine = model.service.machine else {
      line.append("\(glyphs.state(.unknown)) this machine: no data yet")
      return line
    }
    let style = style(.machine(machine.status), model)
    line.append("\(glyphs.machine(machine.status)) \(machine.status)", style)
    if hasPath {
      let path = machine.families.first { $0.path.status == machine.status } ?? machine.families[0]
      line.append(" \(path.path.detail)")
      append(model.connection, to: &line)
      return line
    }
    for part in [machine.connectionType, machine.reason].compactMap(\.self) { line.append(" \(part)") }
    if let since = machine.since { line.append(" for \(age(of: since))") }
    return line
  }

  private func paths(_ model: TopModel) -> [StyledLine] {
    guard let machine = model.service.machine else { return [line, line] }
    return machine.families.map { family in
      var line = line
      line.append("  \(family.name) ")
      line.append(glyphs.machine(family.path.status), style(.machine(family.path.status), model))
      line.append(" \(family.path.detail)")
      return line
    }
  }

  private func counts(_ model: TopModel) -> StyledLine {
    var line = line
    for state in TopTargetEntry.states {
      let count = model.service.counts[state] ?? 0
      if line.columns > 0 { line.append(isWide ? "  " : " ") }
      let name = isWide ? " \(state.rawValue)" : ""
      line.append("\(glyphs.state(state)) \(count)\(name)", count > 0 ? style(.state(state), model) : .plain)
    }
    if model.service.partialCount > 0 {
      line.append("  \(model.service.partialCount) partial", style(.state(.down), model))
    }
    return line
  }

  /// The style, or none for outdated data: without colour they do not look like the present.
  func style(_ style: TerminalStyle, _ model: TopModel) -> TerminalStyle {
    model.connection.isLive(at: now) ? style : .plain
  }

  /// Returns text in as many lines as it needs; they end at spaces where possible.
  func wrapped(_ text: String) -> [StyledLine] {
    var parts: [String] = []
    var rest = TextWidth.printable(text, glyphs)
    while TextWidth.columns(rest) > size.columns, size.columns > 0 {
      var part = TextWidth.prefix(of: rest, size.columns)
      if part.isEmpty { break }
      if rest.dropFirst(part.count).first != " ", let space = part.lastIndex(of: " "), space > part.startIndex {
        part = String(part[..<space])
      }
      parts.append(part)
      rest = String(rest.dropFirst(part.count).drop { $0 == " " })
    }
    return (parts + [rest]).map { part in
      var line = line
      line.append(part)
      return line
    }
  }

  // MARK: - Events and foot

  func event(_ event: TopServiceEvent) -> StyledLine {
    var line = line
    line.append(TextWidth.fitted(age(of: event.time), 7, glyphs, isRightAligned: true))
    line.append(" ago  \(event.subject) ")
    if let from = event.from { line.append("\(from) \(glyphs.arrow) ") }
    line.append(event.to, TerminalStateWords.style(of: event.to) ?? .plain)
    if !event.reason.isEmpty { line.append("  \(event.reason)") }
    return line
  }

  private func foot(_ model: TopModel) -> StyledLine {
    var line = line
    if let notice = model.connection.notice(at: now) {
      line.append(notice, .warning)
      return line
    }
    let isList = model.mode == .list
    let keys = isList ? ["j k move", "Enter details", "/ filter", "? help", "q quit"] : ["Esc back", "q quit"]
    let parts =
      isList && model.isTyping
      ? ["/\(model.filter)_", "Enter keep", "Esc clear"]
      : isList && !model.filter.isEmpty ? ["/\(model.filter)"] + keys : keys
    line.append(parts.joined(separator: " \(glyphs.separator) "))
    let (top, rows) = (isList ? model.top : model.textTop, rows(model))
    let count = isList ? model.service.targetCount : text(model).count
    if count > rows { line.append(rightAligned: "\(top + 1)-\(min(count, top + rows)) of \(count)") }
    return line
  }
}
