package import JSONFormat

/// The state of `reachd top`: what the service has sent, and what its user has chosen.
///
/// It has no terminal, clock or socket.
package struct TopModel: Sendable {
  /// What fills the screen.
  package enum Mode: Sendable, Equatable {
    case list
    case detail(id: String)
    /// The keys and signs.
    case help
  }

  /// What a key asks for beyond the model.
  package enum Action: Sendable, Equatable {
    /// The end of the program.
    case quit
    /// The document of a target.
    case load(id: String)
    /// A complete new drawing.
    case redraw
  }

  package var service = TopServiceState()
  package var connection: TopServiceConnection
  /// How far the clock of the service is ahead of this machine's, in ms: ages of changes use the service's.
  package private(set) var clockOffset: Int64 = 0
  package private(set) var mode = Mode.list
  /// The words of the filter, as they were typed.
  package private(set) var filter = ""
  /// Whether characters are those of the filter.
  package private(set) var isTyping = false
  /// The id of the selected target.
  package private(set) var selection: String?
  /// The position of the first target on the screen.
  package private(set) var top = 0
  /// The first line of the details or the help on the screen.
  package private(set) var textTop = 0
  /// The document of the target in the detail, or the reason why there is none.
  package private(set) var document: Document?

  package enum Document: Sendable {
    /// `GET /targets/{id}`.
    case target(id: String, JSON)
    /// There is none.
    case failed(id: String, String)

    var id: String {
      switch self {
      case .target(let id, _), .failed(let id, _): id
      }
    }
  }

  /// The characters of a filter.
  private static let filterLimit = 64

  /// More than the details have lines; ``scrollText(lines:rows:)`` limits the position to those that there are.
  private static let textLimit = 1_000_000

  /// Creates the model of a program that connects at a time.
  package init(connectingAt now: Int64) { connection = .connecting(since: now) }

  /// Takes the time of the service in a response that arrives at `now`; both in milliseconds since 1970.
  package mutating func followClock(_ time: Int64, at now: Int64) {
    // A time in a header field has a resolution of a second, and is older than its arrival.
    let tolerance: Int64 = 2_000
    let offset = TerminalAge.clamped(milliseconds: time) - now
    clockOffset = abs(offset) > tolerance ? offset : 0
  }

  /// Shows a document if its target is still open.
  package mutating func show(_ document: Document) {
    if mode == .detail(id: document.id) { self.document = document }
  }

  /// Returns the request that reads the open target again.
  package func reload(at now: Int64) -> Action? {
    guard case .detail(let id) = mode, connection.isLive(at: now) else { return nil }
    return .load(id: id)
  }

  /// Applies an event; returns what to request because of it.
  package mutating func apply(type: String, _ data: JSON) -> Action? {
    service.apply(type: type, data)
    guard case .detail(let id) = mode else { return nil }
    let subject = type == "target" ? data["target"]?["id"]?.string : type == "verdict" ? data["target"]?.string : nil
    guard subject == id else { return nil }
    return .load(id: id)
  }

  /// Handles a key.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - rows: the number of targets, or of lines of text, that the screen shows.
  /// - Returns: what to do beyond the model.
  package mutating func handle(_ key: TerminalKey, rows: Int) -> Action? {
    if isTyping, type(key) { return nil }
    switch key {
    case .character("/") where mode == .list: isTyping = true
    case .character("q"): return .quit
    case .redraw: return .redraw
    case .character("?"): (mode, textTop) = (mode == .help ? .list : .help, 0)
    case .escape:
      if mode != .list { mode = .list } else if filter.isEmpty { selection = nil } else { apply(filter: "") }
    case .enter:
      guard mode == .list, let id = selection ?? service.targets(in: top..<top + 1).first?.id else { return nil }
      selection = id
      return open(id)
    case .character("j"): return move(by: 1)
    case .character("k"): return move(by: -1)
    default:
      guard let offset = offset(of: key, page: max(1, rows - 1)) else { return nil }
      if mode == .list { return move(by: offset) }
      textTop = max(0, min(textTop, Self.textLimit) + offset)
    }
    return nil
  }

  /// Handles a key of the filter; returns false for a key that moves or draws.
  private mutating func type(_ key: TerminalKey) -> Bool {
    switch key {
    case .character(let character): if filter.count < Self.filterLimit { apply(filter: filter + String(character)) }
    case .backspace: apply(filter: String(filter.dropLast()))
    case .enter: isTyping = false
    case .escape:
      isTyping = false
      apply(filter: "")
    default: return false
    }
    return true
  }

  private mutating func apply(filter text: String) {
    (filter, top) = (text, 0)
    service.filter(by: text)
  }

  /// The number of lines by which a key moves; nil for other keys.
  private func offset(of key: TerminalKey, page: Int) -> Int? {
    let all = mode == .list ? service.targetCount : Self.textLimit
    return switch key {
    case .down: 1
    case .up: -1
    case .pageDown: page
    case .pageUp: -page
    case .end, .character("G"): all
    case .home, .character("g"): -all
    default: nil
    }
  }

  private mutating func open(_ id: String) -> Action {
    (mode, textTop, document) = (.detail(id: id), 0, nil)
    return .load(id: id)
  }

  /// Moves the selection; in the detail, to the neighbouring target.
  private mutating func move(by offset: Int) -> Action? {
    guard mode != .help, service.targetCount > 0 else { return nil }
    let old = selection.flatMap(service.position)
    // The first movement selects the first target on the screen.
    let position = old.map { $0 + offset } ?? (abs(offset) == 1 ? top : offset < 0 ? 0 : top + offset)
    let target = service.targets(in: min(max(0, position), service.targetCount - 1)..<service.targetCount).first
    guard let id = target?.id, id != selection else { return nil }
    selection = id
    guard case .detail = mode else { return nil }
    return open(id)
  }

  /// Limits the position in a text of a number of lines.
  package mutating func scrollText(lines: Int, rows: Int) { textTop = max(0, min(textTop, lines - rows)) }

  /// Moves the window so that it shows the selection, and no empty lines that targets could fill.
  package mutating func scroll(rows: Int) {
    guard rows > 0 else { return }
    if let position = selection.flatMap(service.position) {
      top = min(max(top, position - rows + 1), position)
    }
    top = max(0, min(top, service.targetCount - rows))
  }
}
