/// What a moment counts as in the uptime of a target: its published state, or that there was none.
public enum UptimeState: UInt8, Sendable, CaseIterable {
  /// It was not checked yet, or the checks were inconclusive.
  case unknown
  /// It answered.
  case up
  /// It did not answer, although there was a path to it.
  case down
  /// There was no path to it.
  case unreachable
  /// Checks were suspended, as for maintenance.
  case paused
  /// It was not observed: the service did not run, the machine was suspended, or the target was not registered.
  case unmonitored
}
