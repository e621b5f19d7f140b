package import Logging
internal import Synchronization

/// The settings of the log: the lowest level and the format of a line.
///
/// They may change while lines are written, and apply to every logger that was created with them.
package final class LogSettings: Sendable {
  private let levelNumber: Atomic<Int>
  private let formatNumber: Atomic<Int>
  /// Whether each line begins with its priority, which the journal reads and removes.
  let hasPriorities: Bool

  package init(_ level: Logger.Level, _ format: LineLogHandler.Format, hasPriorities: Bool = false) {
    self.hasPriorities = hasPriorities
    levelNumber = Atomic(Self.number(level, in: Logger.Level.allCases))
    formatNumber = Atomic(Self.number(format, in: LineLogHandler.Format.allCases))
  }

  /// The lowest level that is written.
  var level: Logger.Level { Logger.Level.allCases[levelNumber.load(ordering: .relaxed)] }

  var format: LineLogHandler.Format { LineLogHandler.Format.allCases[formatNumber.load(ordering: .relaxed)] }

  func change(_ level: Logger.Level, _ format: LineLogHandler.Format) {
    levelNumber.store(Self.number(level, in: Logger.Level.allCases), ordering: .relaxed)
    formatNumber.store(Self.number(format, in: LineLogHandler.Format.allCases), ordering: .relaxed)
  }

  private static func number<Case: Equatable>(_ value: Case, in cases: [Case]) -> Int {
    cases.firstIndex(of: value) ?? 0
  }
}
