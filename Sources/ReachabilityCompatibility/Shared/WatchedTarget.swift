internal import Locks
internal import NetworkReachability

/// The equivalent of an `SCNetworkReachability`: a target that can be read at any time and watched by one listener.
final class WatchedTarget: Sendable {
  private let target: ReachabilityTarget
  private let shared: SharedMonitor
  private let session = Locked<ListeningSession?>(nil)

  init(_ target: ReachabilityTarget, on shared: SharedMonitor) {
    self.target = target
    self.shared = shared
  }

  deinit { stop() }

  // MARK: - State

  /// The path to the target: the last published one while there is a listener, else by a lookup in the kernel.
  var path: NetworkPath {
    if isWatched, let published { return published }
    do throws(KernelError) {
      return try shared.monitor.evaluate(target, resolution: target.specialAddresses).path
    } catch {
      return .unknown(.kernelUnavailable)
    }
  }

  /// The flags of ``path``; nil when the lookup failed.
  var flags: ReachabilityFlags? {
    let path = path
    return path.isKnown ? path.flags : nil
  }

  private var published: NetworkPath? {
    target == .default ? shared.monitor.snapshot.machine.leading : shared.monitor.verdict(of: target)?.path
  }

  // MARK: - Watching

  /// Whether there is a listener.
  var isWatched: Bool { session.withLock(\.self)?.isOpen == true }

  /// Calls `body` with the present path and again after every change; replaces an earlier listener.
  func start(on context: DeliveryContext, _ body: @escaping @Sendable (NetworkPath) -> Void) throws(KernelError) {
    stop()
    try shared.retain()
    let session = ListeningSession(shared)
    // Before the subscription, because the first call may occur before it is made, and may stop or restart.
    replaceSession(with: session)
    let isMachine = target == .default
    let subscription = shared.monitor.listenWithoutWaiting(
      to: isMachine ? [.status, .path] : [], watching: isMachine ? [] : [target], on: context
    ) { update in
      let path = isMachine ? update.snapshot.machine.leading : update.host?.path
      if let path, session.isOpen { body(path) }
    }
    session.attach(subscription)
    guard subscription != nil else {
      session.end()
      // ENOSPC stands for a limit that is reached.
      throw KernelError(operation: "watch \(target)", errno: 28, message: "too many targets are watched")
    }
  }

  /// Removes the listener, without waiting for a call in progress.
  ///
  /// It has no effect without a listener, and may be called inside the listener.
  func stop() { replaceSession(with: nil) }

  private func replaceSession(with new: ListeningSession?) {
    let old = session.withLock { session in
      defer { session = new }
      return session
    }
    old?.end()
  }
}
