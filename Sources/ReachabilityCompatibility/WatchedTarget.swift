internal import Locks
internal import NetworkReachability

/// What a `SCNetworkReachability` was to the parents: one target that can be read at any time and watched by one listener.
final class WatchedTarget: Sendable {
  private let target: ReachabilityTarget
  private let shared: SharedMonitor
  private let session = Locked<ListeningSession?>(nil)

  init(_ target: ReachabilityTarget, on shared: SharedMonitor) {
    self.target = target
    self.shared = shared
  }

  deinit { stop() }

  // MARK: - Now

  /// The way to the target: as the listener is told while there is one, else by a fresh question to the kernel.
  var path: NetworkPath {
    if isWatched, let told { return told }
    do throws(KernelError) {
      return try shared.monitor.evaluate(target, resolution: target.ownAddresses).path
    } catch {
      return .unknown(.kernelUnavailable)
    }
  }

  /// The flags of ``path``; nil when the kernel could not be asked.
  var flags: ReachabilityFlags? {
    let path = path
    return path.isKnown ? path.flags : nil
  }

  private var told: NetworkPath? {
    target == .default ? shared.monitor.snapshot.machine.leading : shared.monitor.verdict(of: target)?.path
  }

  // MARK: - Watching

  /// Whether somebody listens.
  var isWatched: Bool { session.withLock(\.self)?.isOpen == true }

  /// Calls `body` with the way as it is, and again when anything about it changes; a listener from before is ended.
  func start(on context: DeliveryContext, _ body: @escaping @Sendable (NetworkPath) -> Void) throws(KernelError) {
    stop()
    try shared.begin()
    let session = ListeningSession(shared)
    // Before the subscription, because the first call may come before that is made, and stop or start anew.
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
      // ENOSPC, the errno for a limit that is reached.
      throw KernelError(operation: "watch \(target)", errno: 28, message: "too many targets are watched")
    }
  }

  /// Ends the listening, without waiting for a call that is under way.
  ///
  /// Harmless when there is none, and inside the listener.
  func stop() { replaceSession(with: nil) }

  private func replaceSession(with new: ListeningSession?) {
    let old = session.withLock { session in
      defer { session = new }
      return session
    }
    old?.end()
  }
}
