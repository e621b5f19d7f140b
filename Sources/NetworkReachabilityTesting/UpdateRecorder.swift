internal import Locks
public import NetworkReachability

/// Records every update for a test.
public final class UpdateRecorder: Sendable {
  private let recorded = Locked<[ReachabilityUpdate]>([])

  /// An empty recorder.
  public init() {}

  /// Records an update; pass it as a listener: `monitor.listen(on: .immediate) { recorder.record($0) }`.
  public func record(_ update: ReachabilityUpdate) { recorded.withLock { $0.append(update) } }

  /// The updates so far, the oldest first.
  public var updates: [ReachabilityUpdate] { recorded.withLock(\.self) }

  /// The statuses of the updates so far.
  public var statuses: [ReachabilityStatus] { updates.map(\.status) }
}

extension DeliveryContext {
  /// Runs closures immediately on the delivering thread: with a ``ScriptedKernel``, before its call returns.
  public static var immediate: DeliveryContext { DeliveryContext { $0() } }
}
