public import Dispatch
internal import Foundation
internal import Locks
internal import NetworkReachability

/// The class of Reachability.swift on Linux, with the additional members of Apple's sample and tonymillion/Reachability.
///
/// ```swift
/// let reachability = try Reachability()
/// reachability.whenReachable = { reachability in print(reachability.connection) }
/// reachability.whenUnreachable = { _ in print("not reachable") }
/// try reachability.startNotifier()
/// ```
///
/// Keep a reference: it stops when the last one is released. Closures run and notifications are posted on the main queue, which
/// the program must run, unless another queue is given.
public final class Reachability: @unchecked Sendable {
  /// A closure for ``whenReachable``.
  public typealias NetworkReachable = (Reachability) -> Void
  /// A closure for ``whenUnreachable``.
  public typealias NetworkUnreachable = (Reachability) -> Void

  /// The settable properties; they may be set at any time and on any thread.
  struct Settings: Sendable {
    var whenReachable: CompatibilityCallback<Reachability>?
    var whenUnreachable: CompatibilityCallback<Reachability>?
    var reachableBlock: CompatibilityCallback<Reachability?>?
    var unreachableBlock: CompatibilityCallback<Reachability?>?
    var allowsCellularConnection = true
    var notificationCenter = NotificationCenter.default
  }

  let settings = Locked(Settings())
  let watched: CompatibilityTarget
  private let isLocalWiFi: Bool
  private let context: DeliveryContext

  // MARK: - Initializers

  /// A reachability of a host name or an address.
  ///
  /// - Parameters:
  ///   - hostname: the host alone; any other text, such as a URL, is unavailable.
  ///   - queueQoS: the quality of service of the queue that is used without a notification queue.
  ///   - targetQueue: that queue's target.
  ///   - notificationQueue: where closures run and notifications are posted; nil for a queue of its own.
  /// - Throws: ``ReachabilityError/failedToCreateWithHostname(_:_:)`` for the empty text.
  public convenience init(
    hostname: String, queueQoS: DispatchQoS = .default, targetQueue: DispatchQueue? = nil,
    notificationQueue: DispatchQueue? = .main
  ) throws {
    guard let target = ReachabilityTarget(anyHost: hostname) else {
      throw ReachabilityError.failedToCreateWithHostname(hostname, EINVAL)
    }
    self.init(target, context: Self.context(queueQoS, targetQueue, notificationQueue))
  }

  /// A reachability of the default path, IPv4 or IPv6.
  ///
  /// - Parameters:
  ///   - queueQoS: the quality of service of the queue that is used without a notification queue.
  ///   - targetQueue: that queue's target.
  ///   - notificationQueue: where closures run and notifications are posted; nil for a queue of its own.
  /// - Throws: nothing on Linux.
  public convenience init(
    queueQoS: DispatchQoS = .default, targetQueue: DispatchQueue? = nil, notificationQueue: DispatchQueue? = .main
  ) throws {
    self.init(.default, context: Self.context(queueQoS, targetQueue, notificationQueue))
  }

  /// A reachability of a target on a shared monitor, with updates in the given context.
  package init(
    _ target: ReachabilityTarget, on shared: CompatibilityMonitor? = nil, context: DeliveryContext = .named(.main)
  ) {
    watched = CompatibilityTarget(target, on: shared ?? .standard)
    isLocalWiFi = target == .localLink
    self.context = context
  }

  deinit { stopNotifier() }

  private static func context(
    _ qos: DispatchQoS, _ target: DispatchQueue?, _ queue: DispatchQueue?
  ) -> DeliveryContext {
    .named(queue ?? DispatchQueue(label: "reachability", qos: qos, target: target))
  }

  // MARK: - State

  /// The present connection; unavailable when the lookup failed.
  ///
  /// Reading it calls no closure. Without a notifier a host name is evaluated by the default path; with one, by its addresses.
  public var connection: Connection {
    let flags = watched.flags ?? []
    let connection = isLocalWiFi ? flags.localWiFiConnection : flags.connection
    return connection == .cellular && !allowsCellularConnection ? .unavailable : connection
  }

  /// The present flags, one letter each: `-R -------`.
  public var description: String {
    watched.flags?.compactDescription(.reachabilitySwift) ?? "unavailable flags"
  }

  // MARK: - Notifier

  /// Calls a closure and posts the notification for the present connection, and again whenever the flags change.
  ///
  /// It has no effect when the notifier is started.
  ///
  /// - Throws: ``ReachabilityError/unableToGetFlags(_:)`` when the kernel cannot be read.
  public func startNotifier() throws {
    guard !watched.isWatched else { return }
    let last = LastDeliveredStatus<SCNetworkReachabilityFlags>()
    do throws(KernelError) {
      try watched.start(on: context) { [weak self] path in
        let flags = path.isKnown ? path.flags : []
        if last.replace(with: flags) { self?.deliver(flags) }
      }
    } catch {
      throw error.errno == ENOSPC
        ? ReachabilityError.unableToSetCallback(error.errno) : ReachabilityError.unableToGetFlags(error.errno)
    }
  }

  /// Stops the notifier and drops queued updates.
  ///
  /// On the notification queue, no closure is called and no notification is posted after it returns. On another thread, it does
  /// not wait for a delivery in progress. It may be called when not started, and inside a closure.
  public func stopNotifier() { watched.stop() }

  private func deliver(_ flags: SCNetworkReachabilityFlags) {
    let settings = settings.withLock(\.self)
    // By the present state, so that the closure reads the state that it was called for.
    (connection == .unavailable ? settings.whenUnreachable : settings.whenReachable)?.body(self)
    let isReachable = flags.isReachable(reachableOnWWAN: settings.allowsCellularConnection)
    (isReachable ? settings.reachableBlock : settings.unreachableBlock)?.body(self)
    settings.notificationCenter.post(name: .reachabilityChanged, object: self)
    settings.notificationCenter.post(name: Notification.Name(kReachabilityChangedNotification), object: self)
  }
}
