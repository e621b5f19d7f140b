/// The frequency of changes among the last results.
///
/// Two thresholds (hysteresis) keep the flapping state stable: an outage is two changes, a second one four; the sixth
/// change among ``size`` results starts flapping.
struct FlapWindow: Hashable, Sendable {
  /// The number of results in the window.
  static let size = 20
  /// The shares of changes that start and end flapping, in percent.
  static let high = 30
  static let low = 15

  /// One bit per result, the latest lowest: set when it differed from the previous one.
  private(set) var changes: UInt32 = 0
  private(set) var last: Bool?
  private(set) var isFlapping = false

  init(changes: UInt32 = 0, last: Bool? = nil, isFlapping: Bool = false) {
    self.changes = changes
    self.last = last
    self.isFlapping = isFlapping
  }

  /// The share of changes in the window, in percent.
  var percentage: Int { changes.nonzeroBitCount * 100 / Self.size }

  mutating func note(isUp: Bool) {
    let isChange = last.map { $0 != isUp } ?? false
    last = isUp
    changes = (changes << 1 | (isChange ? 1 : 0)) & (1 << UInt32(Self.size) - 1)
    if percentage >= Self.high { isFlapping = true }
    if percentage <= Self.low { isFlapping = false }
  }
}
