internal import ReachabilityModel

/// When targets are checked: their phases within the interval, and the times that are planned.
struct SchedulePlanner {
  private(set) var wheel = ScheduleTimingWheel<ScheduleEntry>(slots: Limits.wheelSlots, at: 0)
  private let seed: UInt64

  /// A planner without times.
  ///
  /// - Parameter seed: distributes the targets over the interval differently on each machine.
  init(seed: UInt64) { self.seed = seed }

  /// The first time after `earliest` at the phase of a target: stable over restarts, and evenly distributed over targets.
  func nextRegularTime(
    _ definition: TargetDefinition, after earliest: Duration, _ now: ScheduleMoment
  ) -> Duration {
    let interval = definition.interval.nanoseconds
    let hash = phase(definition, of: definition.interval).nanoseconds
    let phase = hash - hash % Limits.phaseStep.nanoseconds
    let wall = now.time.microseconds &* 1000 &+ (earliest - now.uptime).nanoseconds
    return earliest + .nanoseconds(interval - ((wall &- phase) % interval + interval) % interval)
  }

  /// A time within a period, stable over restarts, and evenly distributed over targets.
  func phase(_ definition: TargetDefinition, of period: Duration) -> Duration {
    .nanoseconds(Int64(SchedulePhaseHash.of(definition.id, seed: seed) % UInt64(period.nanoseconds)))
  }

  /// Plans the next check of a target, instead of an earlier plan.
  ///
  /// - Parameters:
  ///   - entry: the target.
  ///   - due: when it is due.
  ///   - count: the number of all targets.
  mutating func plan(_ entry: ScheduleEntry, at due: Duration, of count: Int) {
    entry.due = due
    // Rounded up, so that no check starts before it is due.
    entry.tick = wheel.insert(entry, at: (due + Limits.wheelTick - .nanoseconds(1)).ticks)
    // Many targets were changed or removed long before they were due.
    guard wheel.count > 2 * count + Limits.staleWheelEntries else { return }
    // A target that was changed back has two entries with the same tick.
    var kept: Set<ObjectIdentifier> = []
    wheel.sweep { entry, tick in entry.tick == tick && kept.insert(ObjectIdentifier(entry)).inserted }
  }

  /// Removes and returns the targets that are due, in the order of their times.
  mutating func takeDue(at now: Duration) -> [ScheduleEntry] {
    // An entry with another tick is outdated.
    wheel.advance(to: now.ticks).filter { entry, tick in entry.tick == tick }.map(\.key)
  }

  /// When the next target is due; nil without targets.
  var nextTime: Duration? { wheel.next.map { Limits.wheelTick * $0 } }
}
