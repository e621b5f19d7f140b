public import Dispatch
internal import Locks

// Names of Alamofire 4 that differ in Alamofire 5; they are deprecated except with the trait `Alamofire4`.
extension NetworkReachabilityManager {
  /// Alamofire 4's name of ``NetworkReachabilityStatus/ConnectionType``.
  public typealias ConnectionType = NetworkReachabilityStatus.ConnectionType

  /// The properties of Alamofire 4.
  struct Alamofire4: Sendable {
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
