internal import CAres
internal import CSockets
internal import Glibc
internal import Locks
internal import Names
internal import ReachabilityModel

/// What callers on any thread share with the prober's thread, and that thread's life.
final class ProberInbox: Sendable {
  enum Command: Sendable {
    case check(Check)
    case cancel(UInt64)
    case resolved(UInt64, Result<[ResolvedAddress], ResolutionFailure>)
  }

  private struct State {
    var commands = Line<Command>()
    var lastID: UInt64 = 0
    var thread: LoopThread?
    var isStopped = false
    /// Rung and not yet heard: ringing again would be a system call for nothing.
    var isRung = false
    /// Opened with the prober, because the process may lose the privilege; not yet taken by the thread.
    var echoSockets: [EchoSocket.Opened]
  }

  /// What the thread is called.
  private let name: String
  let resolver: Resolver
  /// Written to by callers, read by the thread; −1 if the process had no descriptor left.
  let bell: Int32
  private let state: Locked<State>

  /// The inbox of a thread that is started with the first check.
  ///
  /// - Parameters:
  ///   - name: what the thread is called.
  ///   - resolver: who knows the addresses of names.
  ///   - opensEchoSockets: whether it is one for ICMP.
  init(_ name: String, resolver: Resolver, opensEchoSockets: Bool) {
    (self.name, self.resolver) = (name, resolver)
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    let sockets = [false, true].map { opensEchoSockets ? EchoSocket.open(ipv6: $0) : .refused(EBADF) }
    state = Locked(State(echoSockets: sockets))
  }

  deinit {
    if bell >= 0 { Glibc.close(bell) }
    for descriptor in state.withLock({ $0.echoSockets.compactMap(\.descriptor) }) { Glibc.close(descriptor) }
  }

  /// For the thread, which owns it from now on.
  func takeEchoSocket(ipv6: Bool) -> EchoSocket.Opened {
    state.withLock { state in
      defer { state.echoSockets[ipv6 ? 1 : 0] = .refused(EBADF) }
      return state.echoSockets[ipv6 ? 1 : 0]
    }
  }

  func nextID() -> UInt64 {
    state.withLock {
      $0.lastID += 1
      return $0.lastID
    }
  }

  /// Hands a check to the thread, which completes it; returns why not, and then nobody completes it.
  func submit(_ check: Check) -> String? {
    do throws(ResolutionFailure) {
      let mustRing = try state.withLock { (state) throws(ResolutionFailure) in
        if state.isStopped { throw .cancelled }
        if state.commands.count >= Limits.checksWaiting { throw .tooManyQueries }
        if state.thread == nil { state.thread = try startThread() }
        state.commands.append(.check(check))
        return Self.mustRing(&state)
      }
      if mustRing { ring() }
      return nil
    } catch {
      switch error {
      case .serverFailure(let words): return words
      case .tooManyQueries: return "too many checks are waiting for their turn"
      default: return "the prober is stopped"
      }
    }
  }

  func cancel(_ id: UInt64) { command(.cancel(id)) }

  /// For the resolver's completion, on its thread or, for what it refuses, on ours.
  func resolved(_ id: UInt64, _ outcome: Result<[ResolvedAddress], ResolutionFailure>) {
    command(.resolved(id, outcome))
  }

  private func command(_ command: Command) {
    let mustRing = state.withLock { state in
      guard state.thread != nil, !state.isStopped else { return false }
      state.commands.append(command)
      return Self.mustRing(&state)
    }
    if mustRing { ring() }
  }

  private static func mustRing(_ state: inout State) -> Bool {
    defer { state.isRung = true }
    return !state.isRung
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

  /// For the thread: takes everything that came in, unless there is something left of the last time; returns whether
  /// the thread is to end.
  func take(_ commands: inout Line<Command>) -> Bool {
    state.withLock { state in
      if commands.isEmpty {
        swap(&state.commands, &commands)
        state.isRung = false
      }
      return state.isStopped
    }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = unsafe write(bell, &one, MemoryLayout<UInt64>.size)
  }

  private func startThread() throws(ResolutionFailure) -> LoopThread {
    guard bell >= 0 else { throw .serverFailure("eventfd: no descriptors left") }
    let poller = try EventPoller(capacity: Limits.proberEvents)
    let loop = unsafe Unmanaged.passRetained(ProberLoop(self, poller))
    do throws(ResolutionFailure) {
      return try unsafe LoopThread(name, loop.toOpaque(), runProber)
    } catch {
      unsafe loop.release()
      throw error
    }
  }
}

/// The thread's body: it owns its loop and inbox, so that a prober may go away while the last completions run.
private func runProber(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Unmanaged<ProberLoop>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
