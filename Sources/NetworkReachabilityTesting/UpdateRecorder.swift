internal import Locks
public import NetworkReachability

/// Keeps every update that it hears, for a test to look at.
public final class UpdateRecorder: Sendable {
  private let recorded = Locked<[ReachabilityUpdate]>([])

  /// An empty recorder.
  public init() {}

  /// Keeps an update; pass it as a listener: `monitor.listen(on: .immediate) { recorder.record($0) }`.
  public func record(_ update: ReachabilityUpdate) { recorded.withLock { $0.append(update) } }

  /// The updates so far, the oldest first.
  public var updates: [ReachabilityUpdate] { recorded.withLock(\.self) }

  /// The statuses of the updates so far.
  public var statuses: [ReachabilityStatus] { updates.map(\.status) }
}

extension DeliveryContext {
  /// Runs closures at once on the thread that delivers: with a ``ScriptedKernel``, before its call returns.
  public static var immediate: DeliveryContext { DeliveryContext { $0() } }
}
