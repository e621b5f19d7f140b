/// Why a text is not a document that ``JSONNode/parse(_:)`` accepts, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line of the complaint, counted from 1.
  public let line: Int

  /// The column of the complaint in Unicode scalars, counted from 1.
  public let column: Int

  /// What is wrong, for a person.
  public let message: String

  /// Makes a complaint about a place; `line` and `column` count from 1.
  public init(line: Int, column: Int, message: String) {
    self.line = line
    self.column = column
    self.message = message
  }

  /// `line:column: message`.
  public var description: String { "\(line):\(column): \(message)" }
}
