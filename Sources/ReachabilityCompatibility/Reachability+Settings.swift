public import Foundation
internal import Locks

extension Reachability {
  /// Called when the target is reachable: at the start, and whenever the flags change.
  public var whenReachable: NetworkReachable? {
    get { settings.withLock(\.whenReachable)?.body }
    set {
      let callback = CompatibilityCallback(newValue)
      settings.withLock { $0.whenReachable = callback }
    }
  }

  /// Called when the target is not reachable: at the start, and whenever the flags change.
  public var whenUnreachable: NetworkUnreachable? {
    get { settings.withLock(\.whenUnreachable)?.body }
    set {
      let callback = CompatibilityCallback(newValue)
      settings.withLock { $0.whenUnreachable = callback }
    }
  }

  /// Whether a cellular connection counts; true by default.
  public var allowsCellularConnection: Bool {
    get { settings.withLock(\.allowsCellularConnection) }
    set { settings.withLock { $0.allowsCellularConnection = newValue } }
  }

  /// The center for notifications; the default center by default.
  public var notificationCenter: NotificationCenter {
    get { settings.withLock(\.notificationCenter) }
    set { settings.withLock { $0.notificationCenter = newValue } }
  }

  /// The older name of ``allowsCellularConnection``.
  @available(*, deprecated, renamed: "allowsCellularConnection")
  public var reachableOnWWAN: Bool {
    get { allowsCellularConnection }
    set { allowsCellularConnection = newValue }
  }

  /// As ``whenReachable``, with the rule of tonymillion/Reachability.
  public var reachableBlock: ((Reachability?) -> Void)? {
    get { settings.withLock(\.reachableBlock)?.body }
    set {
      let callback = CompatibilityCallback(newValue)
      settings.withLock { $0.reachableBlock = callback }
    }
  }

  /// As ``whenUnreachable``, with the rule of tonymillion/Reachability.
  public var unreachableBlock: ((Reachability?) -> Void)? {
    get { settings.withLock(\.unreachableBlock)?.body }
    set {
      let callback = CompatibilityCallback(newValue)
      settings.withLock { $0.unreachableBlock = callback }
    }
  }
}
