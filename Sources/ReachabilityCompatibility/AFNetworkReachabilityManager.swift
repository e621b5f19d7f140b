public import Foundation
internal import Locks
internal import NetworkReachability

/// AFNetworking's reachability manager on Linux, in the spelling that Swift gave it.
///
/// ```swift
/// AFNetworkReachabilityManager.shared().setReachabilityStatusChange { status in print(status) }
/// AFNetworkReachabilityManager.shared().startMonitoring()
/// ```
///
/// The status is unknown until monitoring has begun and the main queue, which the program must run, has been told the
/// first time. There is no initialiser without a target, as in the original.
open class AFNetworkReachabilityManager: @unchecked Sendable {
  private struct State: Sendable {
    var status = AFNetworkReachabilityStatus.unknown
    var block: Callback<AFNetworkReachabilityStatus>?
  }

  private static let sharedInstance = AFNetworkReachabilityManager.manager()

  private let state = Locked(State())
  private let watched: WatchedTarget
  private let context: DeliveryContext

  /// The manager for the default path that the whole process shares, with its one block.
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
  /// - Parameter domain: the host alone. What is no host, such as a URL, is found unreachable once monitoring has begun.
  public init(forDomain domain: String) {
    watched = WatchedTarget((try? ReachabilityTarget(host: domain)) ?? ReachabilityTarget(.name(domain)), on: .standard)
    context = .named(.main)
  }

  /// A manager for an IPv4 address; 0.0.0.0 is the default path.
  ///
  /// For an IPv6 address give its text to ``init(forDomain:)``.
  public init(forAddress address: sockaddr_in) {
    watched = WatchedTarget(ReachabilityTarget(address), on: .standard)
    context = .named(.main)
  }

  /// A manager for a target on a monitor that it may start and stop, told in this context.
  package init(_ target: ReachabilityTarget, on shared: SharedMonitor, context: DeliveryContext = .named(.main)) {
    watched = WatchedTarget(target, on: shared)
    self.context = context
  }

  deinit { stopMonitoring() }

  // MARK: - Now

  /// The status as last told; unknown before the first time.
  ///
  /// It stays when monitoring stops.
  open var networkReachabilityStatus: AFNetworkReachabilityStatus { state.withLock(\.status) }

  /// Whether the target is reachable, as last told.
  open var isReachable: Bool { isReachableViaWWAN || isReachableViaWiFi }

  /// Whether the target is reachable over a cellular connection, as last told.
  open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

  /// Whether the target is reachable over anything but a cellular connection, as last told.
  open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

  /// The status in words, in the language of this process's environment.
  open func localizedNetworkReachabilityStatusString() -> String {
    AFStringFromNetworkReachabilityStatus(networkReachabilityStatus)
  }

  // MARK: - Monitoring

  /// Tells the status as it is, and then whenever it changes.
  ///
  /// It is set, the block called and the notification posted in one turn of the main queue.
  /// Monitoring that has begun before begins anew. When the kernel refuses, nothing is told.
  open func startMonitoring() {
    let last = LastTold<AFNetworkReachabilityStatus>()
    try? watched.start(on: context) { [weak self] path in
      let status = AFNetworkReachabilityStatus(path.status)
      if last.isNews(status) { self?.tell(status) }
    }
  }

  /// Stops: what is on its way is not told any more.
  ///
  /// On the main queue, nothing is told after this returns. On another thread, what is being told there just now is not
  /// waited for. The block and the last status stay.
  open func stopMonitoring() { watched.stop() }

  /// Sets the block that is called with each new status, in place of the one before; nil for none.
  open func setReachabilityStatusChange(_ block: ((AFNetworkReachabilityStatus) -> Void)?) {
    let callback = Callback(block)
    state.withLock { $0.block = callback }
  }

  private func tell(_ status: AFNetworkReachabilityStatus) {
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
