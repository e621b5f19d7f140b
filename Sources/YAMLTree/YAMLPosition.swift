/// A position in a text, as editors count it.
public struct YAMLPosition: Sendable, Hashable, Comparable {
  /// The line, counted from 1.
  public let line: Int

  /// The column in Unicode scalars, counted from 1.
  public let column: Int

  /// Creates a position; both numbers count from 1.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Orders positions as they follow each other in the text.
  public static func < (left: YAMLPosition, right: YAMLPosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

extension YAMLPosition {
  /// The position of a byte, for errors that libyaml reports as a byte offset only.
  ///
  /// Line breaks are those of YAML 1.1 section 4.2 in ASCII: LF, CR, and CR LF as one.
  init(ofByte offset: Int, in bytes: [UInt8]) {
    var line = 1
    var column = 1
    for index in bytes.indices.prefix(offset) {
      let isBreak = bytes[index] == 0x0A || (bytes[index] == 0x0D && !Self.isLineFeed(index + 1, bytes))
      if isBreak {
        line += 1
        column = 1
      } else if bytes[index] & 0xC0 != 0x80 {
        column += 1  // UTF-8 continuation bytes belong to the scalar before them
      }
    }
    self.init(line: line, column: column)
  }

  private static func isLineFeed(_ index: Int, _ bytes: [UInt8]) -> Bool {
    bytes.indices.contains(index) && bytes[index] == 0x0A
  }
}
