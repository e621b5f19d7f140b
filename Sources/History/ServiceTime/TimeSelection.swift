/// The moments that a client selects, in microseconds since 1970.
struct TimeSelection: Hashable {
  /// The first moment, and the first one after the selected ones.
  var from: Int64
  var until: Int64
  /// The present time by the wall clock.
  private let present: Int64

  init(from: Int64, until: Int64 = .max, now: StoreTime) {
    self.from = from
    self.until = until
    present = now.wall
  }

  /// Whether the first moment is not to come.
  ///
  /// If it is, the wall clock is behind: the client knows a later time.
  var isPast: Bool { from <= present }

  /// Whether a time of a row may be right: one that is to come is not, unless the wall clock is behind.
  func trusts(_ time: Int64) -> Bool { !isPast || time <= present }

  /// Whether a time is selected.
  func contains(_ time: Int64) -> Bool { time >= from && time < until && trusts(time) }
}

/// The times that a row may have: what its clock may have been, as differences to CLOCK_BOOTTIME.
///
/// One is by the last reading of the wall clock in the boot, and one is by the wall clock when the row was written. If the
/// wall clock was set during a boot that is over, each of its values may have been the right one. A row is selected by
/// any of them, so that a wrong clock hides none.
struct ClockShifts {
  /// The last readings, by run.
  private let timeline: UptimeTimeline
  /// The values of the wall clock in the boots that are over and had several, by boot.
  private var values: [String: [Int64]] = [:]
  /// The boots of the runs.
  private var boots: [Int64: String] = [:]

  init(_ stretches: [ClockStretch], _ timeline: UptimeTimeline) {
    self.timeline = timeline
    let present = stretches.last?.boot
    for stretch in stretches where stretch.boot != present {
      boots[stretch.run] = stretch.boot
      Self.add(stretch.wall, to: &values[stretch.boot, default: []])
    }
    values = values.filter { $0.value.count > 1 }
  }

  private static func add(_ shift: Int64, to shifts: inout [Int64]) {
    if !shifts.contains(where: { ClockStretch.isSame($0, shift) }) { shifts.append(shift) }
  }

  /// The shifts of a row of a run; `own` is that of the row.
  func shifts(of run: Int64, own: Int64) -> [Int64] {
    var shifts: [Int64] = []
    if let last = timeline.shift(of: run) { shifts.append(last) }
    Self.add(own, to: &shifts)
    for value in boots[run].flatMap({ values[$0] }) ?? [] { Self.add(value, to: &shifts) }
    return shifts
  }
}
