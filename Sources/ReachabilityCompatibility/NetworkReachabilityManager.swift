public import Dispatch
internal import Locks
internal import NetworkReachability

/// Alamofire's reachability manager on Linux: one target that can be read at any time, with one listener.
///
/// ```swift
/// let manager = NetworkReachabilityManager(host: "www.example.com")
/// manager?.startListening { status in print(status) }
/// ```
///
/// Keep a reference to the manager: it stops when the last one is released, but not before the first call of its listener.
/// Reachable means that a packet can leave this machine towards the host; send requests regardless, and use this to explain
/// failures and to time retries.
open class NetworkReachabilityManager: @unchecked Sendable {
  /// A closure that receives the status.
  public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

  /// The process-wide manager for the default path.
  public static let `default` = NetworkReachabilityManager()

  /// The queue that forwards updates to the listener's queue.
  ///
  /// It targets the global queue, because a queue without a target may use a thread of its own, and there may be many
  /// managers.
  public let reachabilityQueue = DispatchQueue(label: "reachability", target: .global())

  private let watched: CompatibilityTarget
  private let alamofire4 = Locked(Alamofire4())

  /// A manager for a host name or an address.
  ///
  /// - Parameter host: the host alone; the result is nil for the empty text. With any other text that is not a host, such as
  ///   a URL or a host with a port, the manager reports that it is not reachable.
  public init?(host: String) {
    guard let target = ReachabilityTarget(anyHost: host) else { return nil }
    watched = CompatibilityTarget(target, on: .standard)
  }

  /// A manager for the default path, IPv4 or IPv6; never nil on Linux.
  public init?() {
    watched = CompatibilityTarget(.default, on: .standard)
  }

  package init(_ target: ReachabilityTarget, on shared: CompatibilityMonitor) {
    watched = CompatibilityTarget(target, on: shared)
  }

  deinit { stopListening() }

  // MARK: - State

  /// The present flags; nil when the lookup failed.
  ///
  /// Without a listener a host name is evaluated by the default path; with one, by its addresses.
  open var flags: SCNetworkReachabilityFlags? { watched.flags }

  /// The present status, from ``flags``.
  open var status: NetworkReachabilityStatus { flags.map { NetworkReachabilityStatus($0) } ?? .unknown }

  /// Whether the target is reachable.
  open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }

  /// Whether the target is reachable over a cellular connection.
  open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

  /// Whether the target is reachable over a connection that is not cellular.
  open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

  // MARK: - Listening

  /// Calls the listener with the present status and with every change.
  ///
  /// It replaces an earlier listener.
  ///
  /// - Parameters:
  ///   - queue: the listener's queue; the program must run it if it is the main queue.
  ///   - listener: receives each status, one at a time and in order.
  /// - Returns: false when the kernel cannot be read.
  @preconcurrency
  @discardableResult
  open func startListening(
    onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
  ) -> Bool {
    listen(on: { queue }, listener)
  }

  /// Removes the listener and drops queued updates.
  ///
  /// On the listener's queue, if it is serial, no call begins after it returns. On another queue, it does not wait for a call
  /// in progress. It may be called without a listener, and inside the listener.
  open func stopListening() { watched.stop() }

  private func listen(on queue: @escaping @Sendable () -> DispatchQueue, _ listener: @escaping Listener) -> Bool {
    let last = LastDeliveredStatus<NetworkReachabilityStatus>()
    let context = DeliveryContext { [reachabilityQueue] work in
      reachabilityQueue.async { queue().enter(work) }
    }
    do throws(KernelError) {
      // As in Alamofire, a manager without another reference still makes the first call.
      try watched.start(on: context, retaining: self) { path in
        let status = NetworkReachabilityStatus(path.status)
        if last.replace(with: status) { listener(status) }
      }
      return true
    } catch {
      return false
    }
  }
}

// Names of Alamofire 4 that differ in Alamofire 5; they are deprecated except with the trait `Alamofire4`.
extension NetworkReachabilityManager {
  /// Alamofire 4's name of ``NetworkReachabilityStatus/ConnectionType``.
  public typealias ConnectionType = NetworkReachabilityStatus.ConnectionType

  /// The properties of Alamofire 4.
  private struct Alamofire4: Sendable {
    var listener: CompatibilityCallback<NetworkReachabilityStatus>?
    var queue = DispatchQueue.main
  }

  /// The closure for ``startListening()``; it may be set before or after the start, and is kept when listening stops.
  #if !Alamofire4
    @available(*, deprecated, message: "Pass the listener to startListening(onQueue:onUpdatePerforming:).")
  #endif
  public var listener: ((NetworkReachabilityStatus) -> Void)? {
    get { alamofire4.withLock(\.listener)?.body }
    set {
      let callback = CompatibilityCallback(newValue)
      alamofire4.withLock { $0.listener = callback }
    }
  }

  /// The queue for ``listener``; the main queue by default.
  #if !Alamofire4
    @available(*, deprecated, message: "Pass the queue to startListening(onQueue:onUpdatePerforming:).")
  #endif
  public var listenerQueue: DispatchQueue {
    get { alamofire4.withLock(\.queue) }
    set { alamofire4.withLock { $0.queue = newValue } }
  }

  /// Calls ``listener`` with the present status and with every change.
  ///
  /// - Returns: false when the kernel cannot be read.
  #if !Alamofire4
    @available(*, deprecated, message: "Use startListening(onQueue:onUpdatePerforming:).")
  #endif
  @discardableResult
  public func startListening() -> Bool {
    // The properties are read at each call, because they may be set later. The listener does not retain the manager.
    listen(on: { [weak self] in self?.alamofire4.withLock(\.queue) ?? .main }) { [weak self] status in
      self?.alamofire4.withLock(\.listener)?.body(status)
    }
  }

  /// Alamofire 4's name of ``status``.
  #if !Alamofire4
    @available(*, deprecated, renamed: "status")
  #endif
  public var networkReachabilityStatus: NetworkReachabilityStatus { status }

  /// Alamofire 4's name of ``isReachableOnCellular``.
  #if !Alamofire4
    @available(*, deprecated, renamed: "isReachableOnCellular")
  #endif
  public var isReachableOnWWAN: Bool { isReachableOnCellular }
}
