internal import CAres
internal import DequeModule
internal import EventLoop
internal import Glibc

/// The loop of the resolver's thread.
///
/// Confined to that thread.
final class ResolverLoop {
  typealias Outcome = Result<ResolvedAddresses, ResolutionFailure>

  struct Waiter {
    let request: ResolverRequest
    let query: UInt64
  }

  enum TimerID: Hashable, Sendable {
    /// The deadline of a request.
    case request(UInt64)
    /// The end of the wait for a query's other family (``Limits/resolutionDelay``).
    case resolutionDelay(UInt64)
  }

  let inbox: ResolverInbox
  let poller: Poller
  private let mailbox: Mailbox<ResolverInbox.Command>
  var queries: [UInt64: NameQuery] = [:]
  /// The query that a new request for a name joins.
  var queryByName: [String: UInt64] = [:]
  private var waiters: [UInt64: Waiter] = [:]
  /// Queries that are not sent yet, the next one first.
  var waiting: Deque<UInt64> = []
  var inFlight: Set<UInt64> = []
  var cache: AddressCache
  var hosts: AresChannel?
  var dns: AresChannel?
  /// When a DNS server last responded.
  var lastResponse: MonotonicInstant?
  /// A query got no answer, and no server has responded since it was sent.
  var needsNewSockets = false
  var timers = TimerQueue<TimerID>()
  private let files: FileWatcher
  private var lastQuery: UInt64 = 0
  /// Completed requests; their completions run when the state is consistent, because they may call the resolver.
  private var completed: [(request: ResolverRequest, outcome: Outcome)] = []

  init(_ inbox: ResolverInbox, _ poller: Poller, _ mailbox: Mailbox<ResolverInbox.Command>) {
    self.inbox = inbox
    self.poller = poller
    self.mailbox = mailbox
    cache = AddressCache(inbox.configuration)
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
        default: dns?.process(event)
        }
      }
      dns?.processTimeouts()
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
    hosts?.close()
    dns?.close()
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
    let id: UInt64
    if let joined = queryByName[request.name] {
      id = joined
    } else if waiting.count < Limits.queuedNames {
      lastQuery += 1
      id = lastQuery
      queries[id] = NameQuery(name: request.name)
      queryByName[request.name] = id
      waiting.append(id)
    } else {
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
      }
    }
  }

  /// Completes a request with the addresses of one family if there are any, else as timed out.
  private func requestTimedOut(_ id: UInt64) {
    let addresses = waiters[id].flatMap { queries[$0.query]?.addresses } ?? []
    complete(id, addresses.isEmpty ? .failure(.timeout) : .success(addresses))
  }

  private func untilNextTimer() -> Duration? {
    let timer = timers.earliest.map { MonotonicInstant.now.duration(to: $0) }
    return [timer, dns?.nextTimeout].compactMap(\.self).min()
  }

  /// Empties the cache and repeats open queries, because `/etc/resolv.conf`, `/etc/hosts` or the routes to the servers
  /// have changed; existing sockets keep their source addresses.
  private func discardCache() {
    cache.removeAll()
    reopen()
  }
}
