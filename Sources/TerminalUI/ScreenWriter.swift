/// Changes a terminal from one frame to the next with few bytes, and back to what it was (ECMA-48; xterm's ctlseqs).
package struct ScreenWriter: Sendable {
  /// The alternate screen, no cursor, no automatic wrap: a character of unexpected width must not scroll the screen.
  package static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J"
  /// Everything that ``enter`` changes, back.
  package static let leave = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

  private var shown: [String] = []

  /// Creates the writer of an empty screen.
  package init() {}

  /// Forgets what is shown, so that the next frame is drawn completely.
  package mutating func invalidate() { shown = [] }

  /// Returns the bytes that show a frame; empty if it is shown already.
  package mutating func text(for frame: [StyledLine], isColored: Bool) -> String {
    let lines = frame.map { $0.encoded(isColored: isColored) }
    var text = shown.count == lines.count ? "" : "\u{1b}[2J"
    for (index, line) in lines.enumerated() where shown.count != lines.count || shown[index] != line {
      // Erased first: the end of a full line must not be erased with the last character.
      text += "\u{1b}[\(index + 1);1H\u{1b}[2K" + line
    }
    shown = lines
    return text
  }
}
