public import Foundation
internal import Locks
internal import NetworkReachability

/// AFNetworking's reachability manager on Linux, with its Swift names.
///
/// ```swift
/// AFNetworkReachabilityManager.shared().setReachabilityStatusChange { status in print(status) }
/// AFNetworkReachabilityManager.shared().startMonitoring()
/// ```
///
/// The status is unknown until monitoring has begun and the first update has run on the main queue, which the program must
/// run. As in the original, there is no initializer without a target.
open class AFNetworkReachabilityManager: @unchecked Sendable {
  private struct State: Sendable {
    var status = AFNetworkReachabilityStatus.unknown
    var block: CompatibilityCallback<AFNetworkReachabilityStatus>?
  }

  private static let sharedInstance = AFNetworkReachabilityManager.manager()

  private let state = Locked(State())
  private let watched: CompatibilityTarget
  private let context: DeliveryContext

  /// The process-wide manager for the default path, with one block.
  public static func shared() -> AFNetworkReachabilityManager { sharedInstance }

  /// The older spelling of ``shared()``.
  @available(*, deprecated, renamed: "shared()")
  public static func sharedManager() -> AFNetworkReachabilityManager { sharedInstance }

  /// A new manager for the default path, IPv4 or IPv6.
  public static func manager() -> AFNetworkReachabilityManager {
    AFNetworkReachabilityManager(.default, on: .standard)
  }

  /// A manager for a host name or an address.
  ///
  /// - Parameter domain: the host alone. Any other text, such as a URL, is unreachable once monitoring has begun.
  public init(forDomain domain: String) {
    watched = CompatibilityTarget(ReachabilityTarget(anyHost: domain) ?? ReachabilityTarget(.name("")), on: .standard)
    context = .named(.main)
  }

  /// A manager for an IPv4 address; 0.0.0.0 is the default path.
  ///
  /// For an IPv6 address, pass its text to ``init(forDomain:)``.
  public init(forAddress address: sockaddr_in) {
    watched = CompatibilityTarget(ReachabilityTarget(address), on: .standard)
    context = .named(.main)
  }

  /// A manager for a target on a shared monitor, with updates in the given context.
  package init(_ target: ReachabilityTarget, on shared: CompatibilityMonitor, context: DeliveryContext = .named(.main))
  {
    watched = CompatibilityTarget(target, on: shared)
    self.context = context
  }

  deinit { stopMonitoring() }

  // MARK: - State

  /// The last delivered status; unknown before the first.
  ///
  /// It is kept when monitoring stops.
  open var networkReachabilityStatus: AFNetworkReachabilityStatus { state.withLock(\.status) }

  /// Whether the target is reachable, by the last delivered status.
  open var isReachable: Bool { isReachableViaWWAN || isReachableViaWiFi }

  /// Whether the target is reachable over a cellular connection, by the last delivered status.
  open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

  /// Whether the target is reachable over a connection that is not cellular, by the last delivered status.
  open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

  /// The description of the status in the language of this process's environment.
  open func localizedNetworkReachabilityStatusString() -> String {
    AFStringFromNetworkReachabilityStatus(networkReachabilityStatus)
  }

  // MARK: - Monitoring

  /// Delivers the present status and every change: sets the status, calls the block and posts the notification in one
  /// iteration of the main queue.
  ///
  /// Monitoring in progress is restarted. When the kernel cannot be read, nothing is delivered.
  open func startMonitoring() {
    let last = LastDeliveredStatus<AFNetworkReachabilityStatus>()
    try? watched.start(on: context) { [weak self] path in
      let status = AFNetworkReachabilityStatus(path.status)
      if last.replace(with: status) { self?.deliver(status) }
    }
  }

  /// Stops monitoring and drops queued updates.
  ///
  /// On the main queue, nothing is delivered after it returns. On another thread, it does not wait for a delivery in progress.
  /// The block and the last status are kept.
  open func stopMonitoring() { watched.stop() }

  /// Sets the block that is called with each new status; nil for none.
  open func setReachabilityStatusChange(_ block: ((AFNetworkReachabilityStatus) -> Void)?) {
    let callback = CompatibilityCallback(block)
    state.withLock { $0.block = callback }
  }

  private func deliver(_ status: AFNetworkReachabilityStatus) {
    let block = state.withLock { state in
      state.status = status
      return state.block
    }
    block?.body(status)
    NotificationCenter.default.post(
      name: .AFNetworkingReachabilityDidChange, object: self,
      userInfo: [AFNetworkingReachabilityNotificationStatusItem: status.rawValue])
  }
}

extension AFNetworkReachabilityManager {
  /// The older spelling of ``init(forDomain:)``.
  @available(*, deprecated, renamed: "init(forDomain:)")
  public static func managerForDomain(_ domain: String) -> AFNetworkReachabilityManager {
    AFNetworkReachabilityManager(forDomain: domain)
  }

  /// The older spelling of ``init(forAddress:)``.
  @available(*, deprecated, renamed: "init(forAddress:)")
  public static func managerForAddress(_ address: sockaddr_in) -> AFNetworkReachabilityManager {
    AFNetworkReachabilityManager(forAddress: address)
  }
}
