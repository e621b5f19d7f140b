/// Counters of a source of kernel state since its start; all are monotonic.
public struct KernelCounters: Sendable, Hashable {
  /// Event messages of the subscribed groups.
  public var events: UInt64 = 0
  /// Datagrams with event messages.
  public var datagrams: UInt64 = 0
  /// Readings that were delivered to the observer.
  public var readings: UInt64 = 0
  /// Readings that failed.
  public var failures: UInt64 = 0
  /// Receive buffer overruns that the kernel reported (ENOBUFS); each one loses events.
  public var overruns: UInt64 = 0
  /// Complete readings after lost events.
  public var resyncs: UInt64 = 0
  /// Complete readings after the machine or this process was suspended.
  public var resumes: UInt64 = 0
  /// Waits for the kernel's RTNL lock before a reading.
  public var barriers: UInt64 = 0
  /// Audits: comparisons of the state with the kernel's, made without an event.
  public var audits: UInt64 = 0
  /// Differences that audits found, for which no event was received.
  public var auditDifferences: UInt64 = 0
  /// Readings that events caused.
  public var reactions: UInt64 = 0
  /// The time from the first event to the end of the observer's processing, summed over those readings.
  public var reactionTime: Duration = .zero
  /// When the source last made progress, on CLOCK_MONOTONIC; an idle source reports progress every 10 seconds.
  public var lastProgress: Duration = .zero

  /// Creates counters that are all zero.
  public init() {}
}
