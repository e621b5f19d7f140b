public import Dispatch
internal import Locks

// What Alamofire 4 had and 5 has renamed.
extension NetworkReachabilityManager {
  /// Alamofire 4's place of ``NetworkReachabilityStatus/ConnectionType``.
  public typealias ConnectionType = NetworkReachabilityStatus.ConnectionType

  /// What Alamofire 4 kept in properties.
  struct Alamofire4: Sendable {
    var listener: Callback<NetworkReachabilityStatus>?
    var queue = DispatchQueue.main
  }

  /// The closure that ``startListening()`` starts to call; it may be set before or after, and stays when listening stops.
  @available(*, deprecated, message: "Pass the listener to startListening(onQueue:onUpdatePerforming:).")
  public var listener: ((NetworkReachabilityStatus) -> Void)? {
    get { alamofire4.withLock(\.listener)?.body }
    set {
      let callback = Callback(newValue)
      alamofire4.withLock { $0.listener = callback }
    }
  }

  /// Where ``listener`` is called; the main queue unless set.
  @available(*, deprecated, message: "Pass the queue to startListening(onQueue:onUpdatePerforming:).")
  public var listenerQueue: DispatchQueue {
    get { alamofire4.withLock(\.queue) }
    set { alamofire4.withLock { $0.queue = newValue } }
  }

  /// Calls ``listener`` once with the status as it is, and then whenever the status changes.
  ///
  /// - Returns: false when the kernel refuses.
  @available(*, deprecated, message: "Use startListening(onQueue:onUpdatePerforming:).")
  @discardableResult
  public func startListening() -> Bool {
    // The properties are read at each call, for they may be set later; the manager is not kept alive by its own listener.
    listen(on: { [weak self] in self?.alamofire4.withLock(\.queue) ?? .main }) { [weak self] status in
      self?.alamofire4.withLock(\.listener)?.body(status)
    }
  }

  /// Alamofire 4's name of ``status``.
  @available(*, deprecated, renamed: "status")
  public var networkReachabilityStatus: NetworkReachabilityStatus { status }

  /// Alamofire 4's name of ``isReachableOnCellular``.
  @available(*, deprecated, renamed: "isReachableOnCellular")
  public var isReachableOnWWAN: Bool { isReachableOnCellular }
}
