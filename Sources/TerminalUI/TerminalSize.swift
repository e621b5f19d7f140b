/// The size of a terminal in character cells.
package struct TerminalSize: Sendable, Equatable {
  package var columns: Int
  package var lines: Int

  /// Creates a size; a terminal that does not report one has that of a VT100.
  package init(columns: Int, lines: Int) {
    self.columns = columns > 0 ? columns : 80
    self.lines = lines > 0 ? lines : 24
  }
}
