/// One line of a terminal: text in styles, never wider than its limit.
package struct StyledLine: Sendable, Equatable {
  private struct Span: Sendable, Equatable {
    var text: String
    var style: TerminalStyle
  }

  private var spans: [Span] = []
  /// The columns that are used.
  package private(set) var columns = 0
  /// The columns of the terminal.
  package let width: Int
  private let glyphs: Glyphs

  /// Creates an empty line for a width.
  package init(width: Int, _ glyphs: Glyphs) {
    self.width = max(0, width)
    self.glyphs = glyphs
  }

  /// The columns that are left.
  package var rest: Int { width - columns }

  /// The text without styles.
  package var text: String { spans.map(\.text).joined() }

  /// Appends text, and cuts it off at the end of the line.
  package mutating func append(_ text: String, _ style: TerminalStyle = .plain) {
    guard rest > 0 else { return }
    var text = TextWidth.printable(text, glyphs)
    if TextWidth.columns(text) > rest { text = TextWidth.fitted(text, rest, glyphs) }
    columns += TextWidth.columns(text)
    spans.append(Span(text: text, style: style))
  }

  /// Appends text in a column of a width, followed by a space.
  package mutating func append(
    column text: String, _ width: Int, _ style: TerminalStyle = .plain, isRightAligned: Bool = false
  ) {
    append(TextWidth.fitted(text, width, glyphs, isRightAligned: isRightAligned), style)
    append(" ")
  }

  /// Appends text at the end of the line if it fits behind a space.
  package mutating func append(rightAligned text: String, _ style: TerminalStyle = .plain) {
    let columns = TextWidth.columns(TextWidth.printable(text, glyphs))
    guard columns < rest || self.columns == 0 else { return }
    append(String(repeating: " ", count: max(0, rest - columns)))
    append(text, style)
  }

  package func encoded(isColored: Bool) -> String {
    spans.map { $0.style.applied(to: $0.text, isColored: isColored) }.joined()
  }
}
