package import Dispatch
internal import Foundation
package import NetworkReachability

extension DeliveryContext {
  /// A queue that a user of the façades names, and who may mean Foundation's main queue by the main queue.
  package static func named(_ queue: DispatchQueue) -> DeliveryContext { DeliveryContext { queue.enter($0) } }
}

extension DispatchQueue {
  /// Runs a closure here, on the main queue as an operation of Foundation's.
  ///
  /// An observer that was added with `queue: .main` is called by an operation of `OperationQueue.main`, for which `post`
  /// waits unless that is the current queue. Of a plain block on the main queue Foundation only knows so by its thread,
  /// which under `dispatchMain()` and an `async` `@main` is any thread on Linux: the post would wait for itself.
  func enter(_ work: @escaping @Sendable () -> Void) {
    if isMain { OperationQueue.main.addOperation(work) } else { async(execute: work) }
  }

  /// Whether this is the main queue: on Linux each `DispatchQueue.main` is an object of its own, so identity cannot tell.
  private var isMain: Bool { getSpecific(key: Self.mainMark) == true }

  private static let mainMark = {
    let mark = DispatchSpecificKey<Bool>()
    main.setSpecific(key: mark, value: true)
    return mark
  }()
}
