internal import DequeModule
internal import EventLoop
internal import Glibc

/// The loop of the resolver's thread.
///
/// Confined to that thread.
final class ResolverLoop {
  typealias Outcome = Result<ResolvedAddresses, HostResolutionFailure>

  struct Waiter {
    let request: ResolverRequest
    let query: UInt64
  }

  enum TimerID: Hashable, Sendable {
    /// The deadline of a request.
    case request(UInt64)
    /// The end of the wait for a query's other family (``Limits/resolutionDelay``).
    case resolutionDelay(UInt64)
    /// Queries wait for the configured limit.
    case budget
  }

  private let inbox: ResolverInbox
  var queries = ResolverQueryTable()
  var channels: ResolverChannels
  var cache: ResolverAddressCache
  var timers = TimerQueue<TimerID>()
  var budget: ResolverQueryBudget
  /// Names wait for others since the last turn.
  var hasDelayedNames = false
  private let poller: Poller
  private let mailbox: Mailbox<ResolverInbox.Command>
  private let files: FileWatcher
  private var waiters: [UInt64: Waiter] = [:]
  /// Completed requests; their completions run when the state is consistent, because they may call the resolver.
  private var completed: [(request: ResolverRequest, outcome: Outcome)] = []

  init(_ inbox: ResolverInbox, _ poller: Poller, _ mailbox: Mailbox<ResolverInbox.Command>) {
    self.inbox = inbox
    self.poller = poller
    self.mailbox = mailbox
    channels = ResolverChannels(inbox.configuration, poller)
    cache = ResolverAddressCache(inbox.configuration)
    budget = ResolverQueryBudget(inbox.configuration.queryLimit, now: .now)
    files = FileWatcher([inbox.configuration.resolvConfPath, Self.hostsPath])
  }

  /// c-ares 1.18 has no option for another path.
  static let hostsPath = "/etc/hosts"

  /// Runs until the mailbox is closed.
  func run() {
    // Without inotify the files are compared with each request.
    if files.descriptor >= 0 { try? poller.add(files.descriptor, .readable) }
    var isStopped = false
    while !isStopped {
      var filesMayDiffer = false
      for event in (0..<poller.wait(atMost: untilNextTimer())).map({ poller[$0] }) {
        switch event.token {
        case Poller.mailboxToken: break
        case UInt64(clamping: files.descriptor): filesMayDiffer = true
        default: channels.process(event)
        }
      }
      channels.processTimeouts()
      let (commands, isClosed) = mailbox.take()
      isStopped = isClosed
      filesMayDiffer = filesMayDiffer || commands.contains { if case .resolve = $0 { true } else { false } }
      let haveFilesChanged = filesMayDiffer && files.checkForChanges()
      if haveFilesChanged { discardCache() }
      for command in commands { handle(command) }
      if isStopped {
        for id in waiters.keys { complete(id, .failure(.cancelled)) }
      }
      processAnswers()
      handleTimers()
      startWaiting()
      runCompletions()
      if haveFilesChanged { inbox.filesChanged() }
    }
    channels.close()
  }

  private func handle(_ command: ResolverInbox.Command) {
    switch command {
    case .resolve(let request): accept(request)
    case .cancel(let id): complete(id, .failure(.cancelled))
    case .flush: discardCache()
    }
  }

  private func accept(_ request: ResolverRequest) {
    if let known = cache.lookup(request.name, now: .now) {
      completed.append((request, known))
      return
    }
    guard let id = queries.query(for: request.name) else {
      completed.append((request, .failure(.tooManyQueries)))
      return
    }
    queries[id]?.waiters.insert(request.id)
    waiters[request.id] = Waiter(request: request, query: id)
    timers.set(.request(request.id), at: request.deadline)
  }

  /// Records the outcome of a request, unless it has one.
  func complete(_ id: UInt64, _ outcome: Outcome) {
    guard let waiter = waiters.removeValue(forKey: id) else { return }
    timers.cancel(.request(id))
    queries[waiter.query]?.waiters.remove(id)
    completed.append((waiter.request, outcome))
  }

  private func runCompletions() {
    guard !completed.isEmpty else { return }
    let now = completed
    completed.removeAll()
    inbox.requestsCompleted(now.count)
    for (request, outcome) in now { request.completion(outcome) }
  }

  private func handleTimers() {
    let now = MonotonicInstant.now
    while let timer = timers.popExpired(now) {
      switch timer {
      case .request(let id): requestTimedOut(id)
      case .resolutionDelay(let id): otherFamilyTimedOut(id)
      // It only ends the wait.
      case .budget: break
      }
    }
  }

  /// Completes a request with the addresses of one family if there are any, else as timed out; a name that was not queried
  /// yet has waited for others.
  private func requestTimedOut(_ id: UInt64) {
    let query = waiters[id].flatMap { queries[$0.query] }
    let addresses = query?.addresses ?? []
    let failure: HostResolutionFailure = hasDelayedNames && query?.attempt == 0 ? .tooManyQueries : .timeout
    complete(id, addresses.isEmpty ? .failure(failure) : .success(addresses))
  }

  private func untilNextTimer() -> Duration? {
    let timer = timers.earliest.map { MonotonicInstant.now.duration(to: $0) }
    return [timer, channels.nextTimeout].compactMap(\.self).min()
  }

  /// Empties the cache and repeats open queries, because `/etc/resolv.conf`, `/etc/hosts` or the routes to the servers
  /// have changed; existing sockets keep their source addresses.
  private func discardCache() {
    cache.removeAll()
    reopen()
  }
}
