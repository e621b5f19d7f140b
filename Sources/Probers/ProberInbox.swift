internal import CSockets
internal import EventLoop
internal import Glibc
internal import Locks
internal import HostResolver

/// The state that callers on any thread share with a prober's thread.
final class ProberInbox: Sendable {
  enum Command: Sendable {
    case check(ProberCheck)
    case cancel(UInt64)
    case resolved(UInt64, Result<ResolvedAddresses, HostResolutionFailure>)
    /// A timer was set by another thread.
    case timerSet
  }

  private struct WeakTimer {
    weak var timer: ProberTimer?
  }

  private struct State {
    var lastID: UInt64 = 0
    /// Opened with the prober, because the process may drop the privilege; the thread takes ownership.
    var echoSockets: [ICMPEchoPackets.Opened]
  }

  let resolver: Resolver
  private let thread: MailboxThread<Command>
  private let state: Locked<State>
  private let timers = Locked<[WeakTimer]>([])
  let commands = ProberCommands()

  /// Makes the inbox of a thread that starts with the first check.
  ///
  /// - Parameters:
  ///   - name: the thread's name.
  ///   - resolver: resolves the names of targets.
  ///   - opensEchoSockets: whether the thread sends ICMP echo requests.
  init(_ name: String, resolver: Resolver, opensEchoSockets: Bool) {
    self.resolver = resolver
    thread = MailboxThread(name, eventCapacity: Limits.proberEvents)
    let sockets = [false, true].map { opensEchoSockets ? ICMPEchoPackets.open(ipv6: $0) : .refused(EBADF) }
    state = Locked(State(echoSockets: sockets))
  }

  deinit {
    for descriptor in state.withLock({ $0.echoSockets.compactMap(\.descriptor) }) { Glibc.close(descriptor) }
  }

  /// Called by the thread, which owns the socket from then on.
  func takeEchoSocket(ipv6: Bool) -> ICMPEchoPackets.Opened {
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

  /// Sends a check to the thread, which completes it.
  ///
  /// - Returns: nil, or why the check was not accepted and will not be completed.
  func submit(_ check: ProberCheck) -> String? {
    if commands.isOwn {
      guard commands.queue.count < Limits.checksWaiting else { return Self.isFull }
      commands.queue.append(.check(check))
      return nil
    }
    do throws(MailboxThread<Command>.PostError) {
      try post(.check(check), limit: Limits.checksWaiting)
      return nil
    } catch {
      switch error {
      case .stopped: return "the prober is stopped"
      case .full: return Self.isFull
      case .unavailable(let cause): return "\(cause)"
      }
    }
  }

  private static let isFull = "too many checks are queued"

  private func post(_ command: Command, limit: Int = .max) throws(MailboxThread<Command>.PostError) {
    // The thread owns its loop and this object, so that the prober may be released while the last completions run.
    try thread.post(command, limit: limit) { { poller, mailbox in ProberLoop(self, poller, mailbox).run() } }
  }

  // MARK: - Timers

  /// Adds a timer, which is removed when it is released.
  func add(_ timer: ProberTimer) {
    timers.withLock { timers in
      timers.removeAll { $0.timer == nil }
      timers.append(WeakTimer(timer: timer))
    }
  }

  var setTimers: [ProberTimer] { timers.withLock { $0.compactMap(\.timer) } }

  /// Makes the thread read the timers, and starts it if it does not run.
  ///
  /// - Returns: false if it is stopped or cannot be started.
  func wake() -> Bool {
    // The thread reads them before each wait.
    if commands.isOwn { return true }
    return (try? post(.timerSet)) != nil
  }

  func cancel(_ id: UInt64) { thread.postIfRunning(.cancel(id)) }

  /// Called by the resolver's completion, on its thread or, for a refused request, on the prober's.
  func resolved(_ id: UInt64, _ outcome: Result<ResolvedAddresses, HostResolutionFailure>) {
    thread.postIfRunning(.resolved(id, outcome))
  }

  func stop() { thread.stop() }
}
