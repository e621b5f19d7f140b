/// Swift text without what is no code, so that a rule about words does not trip over prose.
enum CodeText {
  /// Blanks comments and string literals, but not the code in interpolations; lines keep their numbers.
  static func strip(_ text: String) -> String {
    var scanner = Scanner(bytes: Array(text.utf8))
    scanner.code(untilParenthesis: false)
    return String(decoding: scanner.output, as: UTF8.self)
  }

  private struct Scanner {
    let bytes: [UInt8]
    var index = 0
    var output: [UInt8] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    func starts(with text: String) -> Bool {
      // Most bytes fail at the first one.
      guard index < bytes.count, bytes[index] == text.utf8.first else { return false }
      return bytes[index...].starts(with: text.utf8)
    }

    mutating func keep() {
      output.append(bytes[index])
      index += 1
    }

    mutating func blank(_ count: Int = 1) {
      for _ in 0..<count where index < bytes.count {
        output.append(bytes[index] == UInt8(ascii: "\n") ? UInt8(ascii: "\n") : UInt8(ascii: " "))
        index += 1
      }
    }

    /// Code, to the end or to the parenthesis that ends an interpolation.
    mutating func code(untilParenthesis: Bool) {
      var depth = 0
      while index < bytes.count {
        if starts(with: "//") {
          while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { blank() }
        } else if starts(with: "/*") {
          blockComment()
        } else if let hashes = quoteAfterHashes() {
          string(hashes)
        } else {
          if bytes[index] == UInt8(ascii: "(") { depth += 1 }
          if bytes[index] == UInt8(ascii: ")") {
            depth -= 1
            if untilParenthesis, depth < 0 { return }
          }
          keep()
        }
      }
    }

    private mutating func blockComment() {
      var depth = 0
      repeat {
        if starts(with: "/*") {
          depth += 1
          blank(2)
        } else if starts(with: "*/") {
          depth -= 1
          blank(2)
        } else {
          blank()
        }
      } while depth > 0 && index < bytes.count
    }

    /// How many number signs stand before a quote that begins a literal here; nil when none does.
    private func quoteAfterHashes() -> Int? {
      var ahead = index
      while ahead < bytes.count, bytes[ahead] == UInt8(ascii: "#") { ahead += 1 }
      return ahead < bytes.count && bytes[ahead] == UInt8(ascii: "\"") ? ahead - index : nil
    }

    private mutating func string(_ hashes: Int) {
      blank(hashes)
      let isMultiline = starts(with: "\"\"\"")
      let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1)
      let signs = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
      blank(quotes.count)
      while index < bytes.count {
        if bytes[index...].starts(with: quotes + signs) { return blank(quotes.count + hashes) }
        if bytes[index...].starts(with: [UInt8(ascii: "\\")] + signs) {
          blank(1 + hashes)
          guard index < bytes.count else { return }
          if bytes[index] == UInt8(ascii: "(") {
            blank()
            code(untilParenthesis: true)
          }
        }
        blank()
      }
    }
  }

  /// The words of code: runs of letters, digits and underscores, each with what stands directly before and after.
  static func words(_ code: String) -> [(word: Substring, before: Character?, after: Character?, line: Int)] {
    // By bytes, for there are many; the bytes of other scripts' letters count as letters.
    func isInWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...:
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: false
      }
    }
    func character(_ byte: UInt8) -> Character { Character(Unicode.Scalar(byte)) }
    var words: [(Substring, Character?, Character?, Int)] = []
    var line = 1
    var before: UInt8?
    var start: String.Index?
    let bytes = code.utf8
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if isInWord(byte) {
        if start == nil { start = index }
      } else {
        if let first = start { words.append((code[first..<index], before.map(character), character(byte), line)) }
        start = nil
        before = byte
        if byte == UInt8(ascii: "\n") { line += 1 }
      }
      index = bytes.index(after: index)
    }
    if let first = start { words.append((code[first...], before.map(character), nil, line)) }
    return words
  }
}
