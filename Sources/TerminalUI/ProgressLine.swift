/// One line on standard error that shows how a command advances, and that its results replace.
package enum ProgressLine {
  /// The time before the first one, in seconds: a command that ends soon shows none.
  package static let delay = 1

  /// Clears the line (EL, ECMA-48 8.3.41).
  package static let clear = "\r\u{1b}[2K"

  /// Returns the text: `checking: 2 of 5 targets, 3s`.
  ///
  /// - Parameters:
  ///   - verb: what the command does.
  ///   - done: the number of targets with a result; nil where results come all at the end.
  ///   - total: the number of targets.
  ///   - seconds: the time since the start.
  ///   - limit: the time limit, as it was written.
  ///   - columns: the width of the terminal.
  /// - Returns: the text, which fits in one line.
  package static func text(
    _ verb: String, done: Int?, of total: Int, after seconds: Int, limit: String? = nil, columns: Int
  ) -> String {
    let targets = "\(total) \(total == 1 ? "target" : "targets")"
    let count = done.map { "\($0) of \(targets)" } ?? targets
    let age = TerminalAge.text(milliseconds: Int64(seconds) * 1000) + (limit.map { " of \($0)" } ?? "")
    return TextWidth.prefix(of: "\(verb): \(count), \(age)", max(0, columns - 1))
  }
}
