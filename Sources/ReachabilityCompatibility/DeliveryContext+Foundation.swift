package import Dispatch
internal import Foundation
package import NetworkReachability

extension DeliveryContext {
  /// A queue that the caller of a compatibility class specified; the main queue becomes Foundation's main queue.
  package static func named(_ queue: DispatchQueue) -> DeliveryContext { DeliveryContext { queue.enter($0) } }
}

extension DispatchQueue {
  /// Runs a closure on this queue; on the main queue as an operation of `OperationQueue.main`.
  ///
  /// `NotificationCenter.post` runs an observer with `queue: .main` as an operation and waits for it, unless the main queue is
  /// the current one. Foundation recognizes that by the thread, but with `dispatchMain()` or an `async` `@main` the main queue
  /// runs on any thread on Linux, and the post would deadlock.
  func enter(_ work: @escaping @Sendable () -> Void) {
    if isMain { OperationQueue.main.addOperation(work) } else { async(execute: work) }
  }

  /// Whether this is the main queue: on Linux `DispatchQueue.main` returns a new object each time, so identity is no test.
  private var isMain: Bool { getSpecific(key: Self.mainKey) == true }

  private static let mainKey = {
    let key = DispatchSpecificKey<Bool>()
    main.setSpecific(key: key, value: true)
    return key
  }()
}
