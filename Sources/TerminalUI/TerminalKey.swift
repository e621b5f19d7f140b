/// A key, as `reachd top` distinguishes them.
package enum TerminalKey: Sendable, Equatable {
  /// A printable ASCII character.
  case character(Character)
  /// Arrow keys and their like.
  case up, down, pageUp, pageDown, home, end
  /// Return.
  case enter
  /// Backspace, which terminals send as DEL or BS.
  case backspace
  /// Escape alone.
  case escape
  /// Control-L, which draws the screen again.
  case redraw

  /// Returns the keys in bytes from a terminal; unknown sequences and bytes are ignored.
  ///
  /// A terminal sends a sequence in one piece, so an ESC at the end of the bytes is the key.
  package static func keys(in bytes: [UInt8]) -> [TerminalKey] {
    var keys: [TerminalKey] = []
    var rest = bytes[...]
    while let first = rest.popFirst() {
      switch first {
      case 0x1b:
        guard let next = rest.first, next == UInt8(ascii: "[") || next == UInt8(ascii: "O") else {
          keys.append(.escape)
          continue
        }
        rest.removeFirst()
        let parameters = rest.prefix { (0x20...0x3f).contains($0) }
        rest = rest.dropFirst(parameters.count)
        if let key = sequence(String(decoding: parameters, as: UTF8.self), rest.popFirst() ?? 0) { keys.append(key) }
      case 0x0d, 0x0a: keys.append(.enter)
      case 0x0c: keys.append(.redraw)
      case 0x7f, 0x08: keys.append(.backspace)
      case 0x20...0x7e: keys.append(.character(Character(Unicode.Scalar(first))))
      default: break
      }
    }
    return keys
  }

  /// The key of a control sequence, as xterm sends it in either cursor mode.
  private static func sequence(_ parameters: String, _ final: UInt8) -> TerminalKey? {
    switch (parameters, final) {
    case (_, UInt8(ascii: "A")): .up
    case (_, UInt8(ascii: "B")): .down
    case (_, UInt8(ascii: "H")), ("1", UInt8(ascii: "~")), ("7", UInt8(ascii: "~")): .home
    case (_, UInt8(ascii: "F")), ("4", UInt8(ascii: "~")), ("8", UInt8(ascii: "~")): .end
    case ("5", UInt8(ascii: "~")): .pageUp
    case ("6", UInt8(ascii: "~")): .pageDown
    default: nil
    }
  }
}
