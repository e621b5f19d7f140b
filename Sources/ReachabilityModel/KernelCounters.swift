/// What a ``KernelSource`` has done since it started; every number only grows.
public struct KernelCounters: Sendable, Hashable {
  /// Event messages of the groups we listen to.
  public var events: UInt64 = 0
  /// Datagrams that brought them.
  public var datagrams: UInt64 = 0
  /// Readings that reached the observer.
  public var readings: UInt64 = 0
  /// Readings that failed.
  public var failures: UInt64 = 0
  /// Times the kernel said that it threw events away because the receive buffer was full.
  public var overruns: UInt64 = 0
  /// Readings made of everything because events were lost.
  public var resyncs: UInt64 = 0
  /// Readings made of everything because the machine slept or this process was stopped.
  public var resumes: UInt64 = 0
  /// Waits for the kernel's RTNL lock before a reading.
  public var barriers: UInt64 = 0
  /// Comparisons of what is held with what the kernel has, made without an event to ask for them.
  public var audits: UInt64 = 0
  /// What those comparisons found to differ: changes that no event had told of.
  public var auditDifferences: UInt64 = 0
  /// Readings that events asked for.
  public var reactions: UInt64 = 0
  /// The time from the first of the events until the observer had taken the reading in, summed over those readings.
  public var reactionTime: Duration = .zero
  /// When the source last did something, on CLOCK_MONOTONIC since its own zero; an idle one shows itself every 10 seconds.
  public var lastProgress: Duration = .zero

  /// Nothing done yet.
  public init() {}
}
