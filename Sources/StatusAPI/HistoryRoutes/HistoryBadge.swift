/// A badge as SVG: a label on the left, a value on a coloured ground on the right.
struct HistoryBadge {
  var label: String
  var value: String
  var color: Color

  /// The ground of the value; the contrast of white text on each is at least 4.5:1 (WCAG 2.2 AA).
  enum Color: String {
    case green = "#15803d"
    case yellow = "#a16207"
    case red = "#b91c1c"
    case grey = "#52525b"
  }

  /// The longest text in characters; a longer one is shortened.
  private static let characterLimit = 63
  /// The width of a character and the margin on both sides together, in pixels: an average of Verdana at 11 px.
  private static let characterWidth = 7
  private static let margin = 12

  /// The document; its texts are escaped.
  var svg: String {
    let (label, value) = (Self.text(label), Self.text(value))
    let left = label.count * Self.characterWidth + Self.margin
    let right = value.count * Self.characterWidth + Self.margin
    let (escapedLabel, escapedValue) = (Self.escaped(label), Self.escaped(value))
    let title = "\(escapedLabel): \(escapedValue)"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(left + right)" height="20" role="img" aria-label="\(title)">\
      <title>\(title)</title>\
      <rect width="\(left)" height="20" fill="#3f3f46"/>\
      <rect x="\(left)" width="\(right)" height="20" fill="\(color.rawValue)"/>\
      <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\
      <text x="\(left / 2)" y="14">\(escapedLabel)</text>\
      <text x="\(left + right / 2)" y="14">\(escapedValue)</text></g></svg>

      """
  }

  private static func text(_ text: String) -> String {
    text.count > characterLimit ? text.prefix(characterLimit - 1) + "…" : text
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      // XML 1.0 allows no other control characters.
      case _ where character.unicodeScalars.contains { $0.value < 0x20 }: escaped += "\u{fffd}"
      default: escaped.append(character)
      }
    }
  }
}
