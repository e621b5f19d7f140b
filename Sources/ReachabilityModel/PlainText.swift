extension String {
  /// The text with its control characters escaped, for untrusted text in log lines and on terminals.
  ///
  /// A line break would begin a line that looks like our own; an escape sequence could rewrite earlier output.
  package var withoutControls: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isControl { text += scalar.escaped(asASCII: true) } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension StringProtocol {
  /// A JSON text with those control characters escaped that JSON permits in strings.
  package var jsonWithoutControls: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      guard !scalar.isASCII, scalar.isControl else { return text.unicodeScalars.append(scalar) }
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
  }
}

extension StringProtocol {
  /// Whether the text has ASCII digits only, or nothing: parsers of integers also accept a sign.
  package var isDecimal: Bool { utf8.allSatisfy(\.isASCIIDigit) }
}

extension UInt8 {
  /// Whether the byte is an ASCII digit.
  package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, line and paragraph separators, and the characters that change the direction of text.
  fileprivate var isControl: Bool {
    switch value {
    case 0x00...0x1f, 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
