internal import ReachabilityModel

/// The columns that text occupies in a terminal.
package enum TextWidth {
  /// Returns the columns of a text without control characters.
  package static func columns(_ text: some StringProtocol) -> Int {
    // Almost all text is ASCII.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + columns($1) }
  }

  /// Returns text that occupies exactly `width` columns: filled with spaces, or cut off with an ellipsis.
  package static func fitted(_ text: String, _ width: Int, _ glyphs: Glyphs, isRightAligned: Bool = false) -> String {
    guard width > 0 else { return "" }
    let text = printable(text, glyphs)
    let columns = columns(text)
    if columns <= width {
      let spaces = String(repeating: " ", count: width - columns)
      return isRightAligned ? spaces + text : text + spaces
    }
    let prefix = prefix(of: text, width - 1)
    return prefix + glyphs.ellipsis + String(repeating: " ", count: width - 1 - self.columns(prefix))
  }

  /// Returns the longest beginning of a text with at most `width` columns.
  package static func prefix(of text: String, _ width: Int) -> String {
    var result = String.UnicodeScalarView()
    var used = 0
    for scalar in text.unicodeScalars {
      used += columns(scalar)
      if used > width { break }
      result.append(scalar)
    }
    return String(result)
  }

  /// Returns text that moves no cursor: control characters are escaped, and others than ASCII replaced where the
  /// terminal cannot show them.
  package static func printable(_ text: String, _ glyphs: Glyphs) -> String {
    let plain = text.withoutControls
    guard !glyphs.isUnicode, !plain.utf8.allSatisfy({ $0 < 0x80 }) else { return plain }
    return String(String.UnicodeScalarView(plain.unicodeScalars.map { $0.isASCII ? $0 : "?" }))
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }

  /// The ranges of East Asian Width W and F (UAX #11) that host names and paths can contain; symbols and emoji of width 2
  /// are in the last one.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
    0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd,
  ]
}
