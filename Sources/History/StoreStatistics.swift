internal import Synchronization

/// Counters of a store, for metrics.
public final class StoreStatistics: Sendable {
  /// The durations of one operation, in classes.
  public struct Durations: Sendable {
    /// The upper bounds of the classes in seconds; the last class has none.
    public static let bounds = [0.000_1, 0.000_25, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
    /// The operations in each class, one more than bounds.
    public var counts: [UInt64]
    /// The sum of all durations in seconds.
    public var sum: Double
  }

  private final class Histogram: Sendable {
    // One atomic for each class; an array of atomics is not possible.
    private let classes: [Counter] = (0...Durations.bounds.count).map { _ in Counter() }
    private let sum = Counter()

    func record(_ nanoseconds: Int64) {
      let seconds = Double(nanoseconds) / 1e9
      classes[Durations.bounds.firstIndex { seconds <= $0 } ?? Durations.bounds.count].add(1)
      sum.add(UInt64(max(0, nanoseconds)))
    }

    var value: Durations { Durations(counts: classes.map(\.value), sum: Double(sum.value) / 1e9) }
  }

  private final class Counter: Sendable {
    private let number = Atomic<UInt64>(0)
    var value: UInt64 { number.load(ordering: .relaxed) }
    func add(_ count: UInt64) { number.wrappingAdd(count, ordering: .relaxed) }
  }

  private let commitDurations = Histogram()
  private let syncDurations = Histogram()
  private let syncFailureCount = Counter()
  private let commitFailureCount = Counter()
  private let detachCount = Counter()
  private let size = Atomic<Int64>(0)

  init() {}

  /// The durations of transactions.
  public var commits: Durations { commitDurations.value }
  /// The durations of synchronizations of the log.
  public var syncs: Durations { syncDurations.value }
  /// Synchronizations that failed.
  public var syncFailures: UInt64 { syncFailureCount.value }
  /// Transactions that failed.
  public var commitFailures: UInt64 { commitFailureCount.value }
  /// How often events were published without waiting for the disk.
  public var detachments: UInt64 { detachCount.value }

  /// The bytes of the database with its log, as the thread `store` saw them last.
  public var bytes: Int64 { size.load(ordering: .relaxed) }

  func recordBytes(_ bytes: Int64) { size.store(bytes, ordering: .relaxed) }
  func recordCommit(_ nanoseconds: Int64) { commitDurations.record(nanoseconds) }
  func recordCommitFailure() { commitFailureCount.add(1) }
  func recordSync(_ nanoseconds: Int64) { syncDurations.record(nanoseconds) }
  func recordSyncFailure() { syncFailureCount.add(1) }
  func recordDetachment() { detachCount.add(1) }
}
