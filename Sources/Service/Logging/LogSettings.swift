package import Logging
internal import Synchronization

/// What the log is like: from which level on, and how a line looks.
///
/// It may change while lines are written, and then holds for every logger that was made with it.
package final class LogSettings: Sendable {
  private let levelNumber: Atomic<Int>
  private let formatNumber: Atomic<Int>

  /// Lines from this level on, looking like this.
  package init(_ level: Logger.Level, _ format: LineLogHandler.Format) {
    levelNumber = Atomic(Self.number(level, in: Logger.Level.allCases))
    formatNumber = Atomic(Self.number(format, in: LineLogHandler.Format.allCases))
  }

  /// The lowest level that is written.
  var level: Logger.Level { Logger.Level.allCases[levelNumber.load(ordering: .relaxed)] }

  /// How a line looks.
  var format: LineLogHandler.Format { LineLogHandler.Format.allCases[formatNumber.load(ordering: .relaxed)] }

  /// Changes both.
  func change(_ level: Logger.Level, _ format: LineLogHandler.Format) {
    levelNumber.store(Self.number(level, in: Logger.Level.allCases), ordering: .relaxed)
    formatNumber.store(Self.number(format, in: LineLogHandler.Format.allCases), ordering: .relaxed)
  }

  private static func number<Case: Equatable>(_ value: Case, in cases: [Case]) -> Int {
    cases.firstIndex(of: value) ?? 0
  }
}
