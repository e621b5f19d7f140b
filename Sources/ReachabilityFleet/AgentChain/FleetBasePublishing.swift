enum FleetBasePublishing: Hashable, Sendable {
  case none
  /// It has to be read.
  case due
  /// The parts of a base that are not published.
  case read(FleetAgentBase, parts: ArraySlice<[FleetBaseCell]>)

  /// Has a base published, unless one is under way.
  mutating func request() {
    if case .none = self { self = .due }
  }

  /// Begins again after a failure: readers need all parts without another message between them.
  mutating func restart() {
    if case .read = self { self = .due }
  }

  /// The cells of each part; one empty part for no cells.
  static func parts(of base: FleetAgentBase) -> ArraySlice<[FleetBaseCell]> {
    let size = FleetLimits.changesPerMessage
    guard !base.cells.isEmpty else { return [[]] }
    return stride(from: 0, to: base.cells.count, by: size).map {
      Array(base.cells[$0..<min($0 + size, base.cells.count)])
    }[...]
  }
}
