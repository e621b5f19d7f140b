internal import ReachabilityModel

/// The time of a decision on two clocks.
struct ScheduleMoment {
  /// The time since the schedule began, including sleep.
  var uptime: Duration
  /// The wall clock, for reports and for the phase within the interval.
  var time: Timestamp
}
