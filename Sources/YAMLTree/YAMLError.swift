/// Why a text is not a document that ``YAMLNode/parse(_:)-([UInt8])`` accepts, and where.
public struct YAMLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line of the complaint, counted from 1.
  public let line: Int

  /// The column of the complaint in Unicode scalars, counted from 1.
  public let column: Int

  /// What is wrong, for a person, with a hint where there is one.
  public let message: String

  /// Makes a complaint about a place; `line` and `column` count from 1.
  public init(line: Int, column: Int, message: String) {
    self.line = line
    self.column = column
    self.message = message
  }

  /// `line:column: message`, the form editors jump to.
  public var description: String { "\(line):\(column): \(message)" }

  init(at position: YAMLPosition, _ message: String) {
    self.init(line: position.line, column: position.column, message: message)
  }
}
