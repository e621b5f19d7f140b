/// Detects that this process was suspended: stopped by a signal, asleep with the machine, or without CPU time.
///
/// A check whose deadline passed meanwhile shows nothing about its target: the answer may be unread in the socket.
struct ScheduleStallDetector {
  /// The last heartbeat; nil while no check is running.
  private var lastHeartbeat: Duration?
  /// When the last stall was detected.
  private(set) var end: Duration?

  /// Records a heartbeat: the timer that runs with the checks, or the end of a check.
  mutating func heartbeat(at now: Duration) {
    if let lastHeartbeat, now - lastHeartbeat > Limits.stall { end = now }
    lastHeartbeat = now
  }

  /// Stops to expect heartbeats, because no check is running.
  mutating func pause() { lastHeartbeat = nil }

  /// Whether a check that started at `start` overlapped a stall.
  func overlaps(_ start: Duration) -> Bool { end.map { start < $0 } ?? false }
}
