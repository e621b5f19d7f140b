public import Dispatch

/// Where a listener's closure runs.
public struct DeliveryContext: Sendable {
  let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// A context that runs closures by `schedule`, which must run each of them once, at any time, on any thread.
  ///
  /// The context need not preserve order: a listener schedules a delivery only after the previous one has ended.
  public init(_ schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.schedule = schedule
  }

  /// A dispatch queue, serial or concurrent.
  public static func queue(_ queue: DispatchQueue) -> DeliveryContext {
    DeliveryContext { work in queue.async(execute: work) }
  }

  /// The main queue; the program must run it (`dispatchMain`, a main actor that suspends).
  public static var main: DeliveryContext { queue(.main) }

  /// A task executor.
  public static func executor(_ executor: some TaskExecutor) -> DeliveryContext {
    DeliveryContext { work in Task(executorPreference: executor) { work() } }
  }
}
