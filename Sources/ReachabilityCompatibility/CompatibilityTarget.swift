internal import Locks
internal import NetworkReachability

/// The equivalent of an `SCNetworkReachability`: a target that can be read at any time and watched by one listener.
final class CompatibilityTarget: Sendable {
  private let target: ReachabilityTarget
  private let shared: CompatibilityMonitor
  private let session = Locked<CompatibilitySession?>(nil)
  /// Whether the shared monitor is retained for ``path``.
  private let isRead = Locked(false)

  init(_ target: ReachabilityTarget, on shared: CompatibilityMonitor) {
    self.target = target
    self.shared = shared
  }

  deinit {
    stop()
    if isRead.withLock(\.self) { shared.release() }
  }

  // MARK: - State

  /// The path to the target: the last published one while there is a listener, else by a lookup in the kernel.
  ///
  /// The first read starts the shared monitor and retains it until this object is released, because each start opens
  /// sockets and reads every interface.
  var path: NetworkPath {
    if isWatched, let published { return published }
    do throws(KernelError) {
      try retainForReading()
      return try shared.monitor.evaluate(target, resolution: target.specialAddresses).path
    } catch {
      return .unknown(.kernelUnavailable)
    }
  }

  private func retainForReading() throws(KernelError) {
    let isFirst = isRead.withLock { isRead in
      defer { isRead = true }
      return !isRead
    }
    guard isFirst else { return }
    do throws(KernelError) {
      try shared.retain()
    } catch {
      isRead.withLock { $0 = false }
      throw error
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

  var isWatched: Bool { session.withLock(\.self)?.isOpen == true }

  /// Calls `body` with the present path and again after every change; replaces an earlier listener.
  ///
  /// - Parameters:
  ///   - context: where `body` runs.
  ///   - owner: an object that is retained until the first call has returned or the listener is removed.
  ///   - body: the listener.
  /// - Throws: a `KernelError` when the kernel cannot be read, or too many targets are watched.
  func start(
    on context: DeliveryContext, retaining owner: (any AnyObject & Sendable)? = nil,
    _ body: @escaping @Sendable (NetworkPath) -> Void
  ) throws(KernelError) {
    stop()
    try shared.retain()
    let session = CompatibilitySession(shared, owner: owner)
    // Before the subscription, because the first call may occur before it is made, and may stop or restart.
    replaceSession(with: session)
    let isMachine = target == .default
    let subscription = shared.monitor.listenWithoutWaiting(
      to: isMachine ? [.status, .path] : [], watching: isMachine ? [] : [target], on: context
    ) { update in
      let path = isMachine ? update.snapshot.machine.leading : update.host?.path
      guard let path, session.isOpen else { return }
      body(path)
      session.releaseOwner()
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

  private func replaceSession(with new: CompatibilitySession?) {
    let old = session.withLock { session in
      defer { session = new }
      return session
    }
    old?.end()
  }
}
