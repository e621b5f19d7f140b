public import Dispatch
internal import Locks
internal import NetworkReachability

/// Alamofire's reachability manager on Linux: one target, read at any time, with one listener.
///
/// ```swift
/// let manager = NetworkReachabilityManager(host: "www.example.com")
/// manager?.startListening { status in print(status) }
/// ```
///
/// Keep a reference to the manager: it stops when the last one goes. Reachable means that a packet can leave this machine
/// towards the host; send requests regardless, and use this to explain failures and to time retries.
open class NetworkReachabilityManager: @unchecked Sendable {
  /// A closure that takes the status.
  public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

  /// A manager for the default path that the whole process shares.
  public static let `default` = NetworkReachabilityManager()

  /// The queue that updates pass through on their way to the listener's queue.
  ///
  /// On the global queue's threads, for a queue without a target may have a thread of its own, and managers are many.
  public let reachabilityQueue = DispatchQueue(label: "reachability", target: .global())

  private let watched: WatchedTarget
  let alamofire4 = Locked(Alamofire4())

  /// A manager for a host name or an address.
  ///
  /// - Parameter host: the host alone. Nil is returned for an empty text, a URL, or a host with a port or a path, which
  ///   could never be reached.
  public init?(host: String) {
    guard let target = try? ReachabilityTarget(host: host) else { return nil }
    watched = WatchedTarget(target, on: .standard)
  }

  /// A manager for the default path, IPv4 or IPv6; never nil on Linux.
  public init?() {
    watched = WatchedTarget(.default, on: .standard)
  }

  /// A manager for a target on a monitor that it may start and stop.
  package init(_ target: ReachabilityTarget, on shared: SharedMonitor) {
    watched = WatchedTarget(target, on: shared)
  }

  deinit { stopListening() }

  // MARK: - Now

  /// The flags of this moment; nil when the kernel could not be asked.
  ///
  /// Without a listener a host name is judged by the default path alone; with one, by its addresses.
  open var flags: SCNetworkReachabilityFlags? { watched.flags }

  /// The status of this moment, by ``flags``.
  open var status: NetworkReachabilityStatus { flags.map { NetworkReachabilityStatus($0) } ?? .unknown }

  /// Whether the target is reachable.
  open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }

  /// Whether the target is reachable over a cellular connection.
  open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

  /// Whether the target is reachable over anything but a cellular connection.
  open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

  // MARK: - Listening

  /// Calls the listener once with the status as it is, and then whenever the status changes.
  ///
  /// A listener from before is removed first.
  ///
  /// - Parameters:
  ///   - queue: where the listener is called; the program must run it if it is the main queue.
  ///   - listener: takes the status, one at a time and in order.
  /// - Returns: false when the kernel refuses.
  @preconcurrency
  @discardableResult
  open func startListening(
    onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
  ) -> Bool {
    listen(on: { queue }, listener)
  }

  /// Removes the listener: what is on its way to the listener's queue is not told any more.
  ///
  /// On the listener's own queue, if it is serial, no call begins after this returns. On another, one that has been begun
  /// may still be under way: it is not waited for. Harmless without a listener, and inside the listener.
  open func stopListening() { watched.stop() }

  func listen(on queue: @escaping @Sendable () -> DispatchQueue, _ listener: @escaping Listener) -> Bool {
    let last = LastTold<NetworkReachabilityStatus>()
    let context = DeliveryContext { [reachabilityQueue] work in
      reachabilityQueue.async { queue().enter(work) }
    }
    do throws(KernelError) {
      try watched.start(on: context) { path in
        let status = NetworkReachabilityStatus(path.status)
        if last.isNews(status) { listener(status) }
      }
      return true
    } catch {
      return false
    }
  }
}
