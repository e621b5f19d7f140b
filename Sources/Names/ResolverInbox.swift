internal import CAres
internal import Glibc
internal import Locks

/// One request for a name.
struct ResolverRequest: Sendable {
  let id: UInt64
  let name: String
  let deadline: Instant
  let completion: @Sendable (Result<[ResolvedAddress], ResolutionFailure>) -> Void
}

/// What callers on any thread share with the resolver's thread, and that thread's life.
final class ResolverInbox: Sendable {
  enum Command: Sendable {
    case resolve(ResolverRequest)
    case cancel(UInt64)
    case flush
  }

  private struct State {
    var commands: [Command] = []
    /// Requests submitted and not yet completed.
    var openRequests = 0
    var lastID: UInt64 = 0
    var thread: LoopThread?
    var isStopped = false
    var onChange: (@Sendable () -> Void)?
  }

  let configuration: Resolver.Configuration
  /// Written to by callers, read by the thread; −1 if the process had no descriptor left.
  let bell: Int32
  private let state = Locked(State())

  init(_ configuration: Resolver.Configuration) {
    self.configuration = configuration
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
  }

  deinit {
    if bell >= 0 { Glibc.close(bell) }
  }

  func nextID() -> UInt64 {
    state.withLock {
      $0.lastID += 1
      return $0.lastID
    }
  }

  /// Hands a request to the thread, which completes it; throws if it is refused, and then nobody completes it.
  func submit(_ request: ResolverRequest) throws(ResolutionFailure) {
    try state.withLock { (state) throws(ResolutionFailure) in
      if state.isStopped { throw .cancelled }
      if state.openRequests >= Limits.requestsOpen { throw .tooManyQueries }
      if state.thread == nil { state.thread = try startThread() }
      state.openRequests += 1
      state.commands.append(.resolve(request))
    }
    ring()
  }

  func cancel(_ id: UInt64) { command(.cancel(id)) }

  func flush() { command(.flush) }

  /// Says what to call, on the thread, after the files have changed.
  func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = body } }

  /// For the thread: the files have changed, and what is asked from now on goes by the new ones.
  func filesChanged() { state.withLock(\.onChange)?() }

  private func command(_ command: Command) {
    let isRunning = state.withLock { state in
      guard state.thread != nil, !state.isStopped else { return false }
      state.commands.append(command)
      return true
    }
    if isRunning { ring() }
  }

  func stop() {
    let thread = state.withLock { state in
      state.isStopped = true
      defer { state.thread = nil }
      return state.thread
    }
    guard let thread else { return }
    ring()
    thread.join()
  }

  /// For the thread: everything that came in, and whether it is to end.
  func take() -> (commands: [Command], isStopped: Bool) {
    state.withLock { state in
      defer { state.commands.removeAll() }
      return (state.commands, state.isStopped)
    }
  }

  /// For the thread: `count` requests are complete.
  func close(requests count: Int) {
    state.withLock { $0.openRequests -= count }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = unsafe write(bell, &one, MemoryLayout<UInt64>.size)
  }

  private func startThread() throws(ResolutionFailure) -> LoopThread {
    guard bell >= 0 else { throw .serverFailure("eventfd: no descriptors left") }
    let poller = try EventPoller(capacity: Limits.resolverEvents)
    let context = unsafe Unmanaged.passRetained(ResolverLoop(self, poller))
    do throws(ResolutionFailure) {
      return try unsafe LoopThread("probes", context.toOpaque(), runResolver)
    } catch {
      unsafe context.release()
      throw error
    }
  }
}

/// The thread's body: it owns its loop and inbox, so that a resolver may go away while the last completions run.
private func runResolver(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Unmanaged<ResolverLoop>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
