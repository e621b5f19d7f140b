public import Dispatch

/// A queue, and a timer that runs its owner's work on it at an interval, the first time immediately.
@safe public final class NATSRepeatingTimer: @unchecked Sendable {
  /// Where the work runs.
  public let queue: DispatchQueue
  private let source: any DispatchSourceTimer

  /// Creates a timer that does not run yet.
  public init(_ label: String, every interval: Duration) {
    queue = DispatchQueue(label: label)
    source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now(), repeating: .milliseconds(Int(interval / .milliseconds(1))))
  }

  deinit {
    // A source that was never activated must not be released.
    source.cancel()
    source.activate()
  }

  /// Begins; without effect after the owner's end.
  public func start<Owner: AnyObject & Sendable>(_ owner: Owner, _ work: @escaping @Sendable (Owner) -> Void) {
    source.setEventHandler { [weak owner] in
      if let owner { work(owner) }
    }
    source.activate()
  }

  /// Ends it.
  public func cancel() { source.cancel() }
}
