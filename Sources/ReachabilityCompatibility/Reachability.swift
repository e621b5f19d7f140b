public import Dispatch
internal import Foundation
internal import Locks
internal import NetworkReachability

/// Reachability.swift's class on Linux, with what Apple's sample and tonymillion/Reachability had besides.
///
/// ```swift
/// let reachability = try Reachability()
/// reachability.whenReachable = { reachability in print(reachability.connection) }
/// reachability.whenUnreachable = { _ in print("not reachable") }
/// try reachability.startNotifier()
/// ```
///
/// Keep a reference: it stops when the last one goes. Closures run and notifications are posted on the main queue, which
/// the program must run, unless another is given.
public final class Reachability: @unchecked Sendable {
  /// A closure for ``whenReachable``.
  public typealias NetworkReachable = (Reachability) -> Void
  /// A closure for ``whenUnreachable``.
  public typealias NetworkUnreachable = (Reachability) -> Void

  /// What a user may set, at any time and on any thread.
  struct Settings: Sendable {
    var whenReachable: Callback<Reachability>?
    var whenUnreachable: Callback<Reachability>?
    var reachableBlock: Callback<Reachability?>?
    var unreachableBlock: Callback<Reachability?>?
    var allowsCellularConnection = true
    var notificationCenter = NotificationCenter.default
  }

  let settings = Locked(Settings())
  let watched: WatchedTarget
  private let isLocalWiFi: Bool
  private let context: DeliveryContext

  // MARK: - Making

  /// A reachability of a host name or an address.
  ///
  /// - Parameters:
  ///   - hostname: the host alone.
  ///   - queueQoS: the quality of service of the queue that is used when there is no notification queue.
  ///   - targetQueue: that queue's target.
  ///   - notificationQueue: where closures run and notifications are posted; nil for a queue of its own.
  /// - Throws: ``ReachabilityError/failedToCreateWithHostname(_:_:)`` for what is no host, such as a URL.
  public convenience init(
    hostname: String, queueQoS: DispatchQoS = .default, targetQueue: DispatchQueue? = nil,
    notificationQueue: DispatchQueue? = .main
  ) throws {
    guard let target = try? ReachabilityTarget(host: hostname) else {
      throw ReachabilityError.failedToCreateWithHostname(hostname, EINVAL)
    }
    self.init(target, context: Self.context(queueQoS, targetQueue, notificationQueue))
  }

  /// A reachability of the default path, IPv4 or IPv6.
  ///
  /// - Parameters:
  ///   - queueQoS: the quality of service of the queue that is used when there is no notification queue.
  ///   - targetQueue: that queue's target.
  ///   - notificationQueue: where closures run and notifications are posted; nil for a queue of its own.
  /// - Throws: nothing on Linux.
  public convenience init(
    queueQoS: DispatchQoS = .default, targetQueue: DispatchQueue? = nil, notificationQueue: DispatchQueue? = .main
  ) throws {
    self.init(.default, context: Self.context(queueQoS, targetQueue, notificationQueue))
  }

  /// A reachability of a target on a monitor that it may start and stop, told in this context.
  package init(_ target: ReachabilityTarget, on shared: SharedMonitor? = nil, context: DeliveryContext = .named(.main))
  {
    watched = WatchedTarget(target, on: shared ?? .standard)
    isLocalWiFi = target == .localLink
    self.context = context
  }

  deinit { stopNotifier() }

  private static func context(
    _ qos: DispatchQoS, _ target: DispatchQueue?, _ queue: DispatchQueue?
  ) -> DeliveryContext {
    .named(queue ?? DispatchQueue(label: "reachability", qos: qos, target: target))
  }

  // MARK: - Now

  /// The connection of this moment; unavailable when the kernel could not be asked.
  ///
  /// Reading it calls no closure. Without a notifier a host name is judged by the default path alone; with one, by its
  /// addresses.
  public var connection: Connection {
    let flags = watched.flags ?? []
    let connection = isLocalWiFi ? flags.localWiFiConnection : flags.connection
    return connection == .cellular && !allowsCellularConnection ? .unavailable : connection
  }

  /// The flags of this moment, one letter each: `-R -------`.
  public var description: String {
    watched.flags?.compactDescription(.reachabilitySwift) ?? "unavailable flags"
  }

  // MARK: - Notifier

  /// Tells the connection as it is, and again whenever the flags change: calls a closure, posts the notification.
  ///
  /// Does nothing when already started.
  ///
  /// - Throws: ``ReachabilityError/unableToGetFlags(_:)`` when the kernel refuses.
  public func startNotifier() throws {
    guard !watched.isWatched else { return }
    let last = LastTold<SCNetworkReachabilityFlags>()
    do throws(KernelError) {
      try watched.start(on: context) { [weak self] path in
        let flags = path.isKnown ? path.flags : []
        if last.isNews(flags) { self?.tell(flags) }
      }
    } catch {
      throw error.errno == ENOSPC
        ? ReachabilityError.unableToSetCallback(error.errno) : ReachabilityError.unableToGetFlags(error.errno)
    }
  }

  /// Stops: what is on its way to the notification queue is not told any more.
  ///
  /// On that queue, no closure is called and no notification posted for any change after this returns. On another thread,
  /// what is being told just now is not waited for. Harmless when not started, and inside a closure.
  public func stopNotifier() { watched.stop() }

  private func tell(_ flags: SCNetworkReachabilityFlags) {
    let settings = settings.withLock(\.self)
    // By the state of this moment, so that a closure finds what it was called for.
    (connection == .unavailable ? settings.whenUnreachable : settings.whenReachable)?.body(self)
    let isReachable = flags.isReachable(reachableOnWWAN: settings.allowsCellularConnection)
    (isReachable ? settings.reachableBlock : settings.unreachableBlock)?.body(self)
    settings.notificationCenter.post(name: .reachabilityChanged, object: self)
    settings.notificationCenter.post(name: Notification.Name(kReachabilityChangedNotification), object: self)
  }
}
