internal import JSONFormat
public import ReachabilityFleet
public import ReachabilityModel
internal import StatusAPI

extension FleetCellChange {
  /// The change of a fleet target that a frame of the event stream reports; nil for another event.
  init?(number: UInt64, frame: [UInt8]) {
    guard let data = try? JSON.parse(SSEFrame.data(of: frame)), data["origin"]?.string == TargetOrigin.fleet.rawValue,
      let summary = data["target"], let id = summary["id"]?.string,
      let old = data["from"]?.string.flatMap(TargetState.init),
      let state = data["to"]?.string.flatMap(TargetState.init),
      let time = data["time"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    let since = summary["since"]?.string.flatMap { Timestamp($0) } ?? time
    let cell = FleetCellState(
      state, data["reason"]?.string.map(Reason.init(rawValue:)), since: since,
      isFlapping: summary["flapping"] == .bool(true))
    self.init(number: number, target: id, old: old, cell: data["removed"] == .bool(true) ? nil : cell, time: time)
  }
}

extension FleetCellState {
  /// The cell of a target that is checked here.
  public init(_ report: TargetReport) {
    let status = report.status
    self.init(status.state, status.reason, since: status.since, isFlapping: status.isFlapping)
  }
}
