/// The uptime of a target in one step of a window.
public struct UptimeStep: Sendable, Equatable {
  /// The start in microseconds since 1970.
  public var start: Int64
  /// The times in each state until the next step.
  public var summary: UptimeSummary

  /// The steps of a window in which a target was not monitored at all.
  public static func unmonitored(in window: UptimeWindow) -> [UptimeStep] {
    zip(window.bounds, window.bounds.dropFirst()).map { start, end in
      var uptime = UptimeAccumulator(at: start)
      uptime.advance(to: end, monitored: [])
      return UptimeStep(start: start, summary: uptime.take())
    }
  }
}
