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

extension Unicode.Scalar {
  /// C0, DEL, C1, line and paragraph separators, and bidirectional formatting characters.
  fileprivate var isControl: Bool {
    switch value {
    case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
