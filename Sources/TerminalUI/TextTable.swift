/// Rows in columns of equal width.
package struct TextTable: Sendable {
  /// The widest column except the last, in terminal columns: one long value must not push the others off the screen.
  private static let columnLimit = 40

  private var widths: [Int]
  private let glyphs: Glyphs

  /// Creates a table whose columns are at least as wide as these titles.
  package init(_ titles: [String], _ glyphs: Glyphs) {
    widths = titles.map { TextWidth.columns($0) }
    self.glyphs = glyphs
  }

  /// Widens the columns for rows, so that all rows that follow are aligned with them.
  package mutating func fit(_ rows: [[String]]) {
    for row in rows {
      for (index, text) in row.enumerated() where index < widths.count {
        let columns = TextWidth.columns(TextWidth.printable(text, glyphs))
        widths[index] = max(widths[index], min(columns, Self.columnLimit))
      }
    }
  }

  /// Returns the cells of a row as aligned text; the last column is as long as its text.
  ///
  /// - Parameters:
  ///   - row: the cells.
  ///   - column: the column with a state, which gets its colour; nil for no colours.
  /// - Returns: the line.
  package func line(_ row: [String], coloring column: Int? = nil) -> String {
    let last = row.lastIndex { !$0.isEmpty } ?? 0
    return row.prefix(last + 1).enumerated().map { index, cell in
      let text = index == last ? TextWidth.printable(cell, glyphs) : TextWidth.fitted(cell, widths[index], glyphs)
      guard index == column, let style = TerminalStateWords.style(of: cell) else { return text }
      return style.applied(to: text, isColored: true)
    }.joined(separator: "  ")
  }
}
