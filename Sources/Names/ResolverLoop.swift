internal import CAres
internal import Glibc

/// The resolver's thread: everything in here is touched by no other.
final class ResolverLoop {
  typealias Outcome = Result<[ResolvedAddress], ResolutionFailure>

  struct Waiter {
    let request: ResolverRequest
    let query: UInt64
  }

  let inbox: ResolverInbox
  let poller: EventPoller
  var queries: [UInt64: NameQuery] = [:]
  /// The query that a new request for a name joins.
  var queryByName: [String: UInt64] = [:]
  var waiters: [UInt64: Waiter] = [:]
  var waiting: [UInt64] = []
  var inFlight: Set<UInt64> = []
  var cache: AddressCache
  var hosts: AresChannel?
  var dns: AresChannel?
  /// When a name server last said anything.
  var lastHeard: Instant?
  /// No server has said a word to a question from first to last.
  var isDeaf = false
  private let files: FileWatch
  private var lastQuery: UInt64 = 0
  /// No waiter's deadline is earlier; it may be that of one that is answered already.
  private var nextDeadline: Instant?
  /// No query's ``NameQuery/graceEnds`` is earlier.
  var nextGrace: Instant?
  /// Completed requests, whose completions run when the state is in order: they may do what they like.
  private var completed: [(request: ResolverRequest, outcome: Outcome)] = []

  init(_ inbox: ResolverInbox, _ poller: EventPoller) {
    self.inbox = inbox
    self.poller = poller
    cache = AddressCache(inbox.configuration)
    files = FileWatch([inbox.configuration.resolvConfPath, Self.hostsPath])
  }

  /// c-ares 1.18 knows no other.
  static let hostsPath = "/etc/hosts"

  /// Runs until the inbox is stopped.
  func run() {
    poller.watch(inbox.bell, reading: true, writing: false)
    if files.descriptor >= 0 { poller.watch(files.descriptor, reading: true, writing: false) }
    var isStopped = false
    while !isStopped {
      var mustLook = false
      for ready in (0..<poller.wait(untilNextTimer())).map({ poller[$0] }) {
        switch ready.descriptor {
        case inbox.bell: EventPoller.drain(inbox.bell)
        case files.descriptor: mustLook = true
        default: dns?.process(ready)
        }
      }
      dns?.processTimeouts()
      let (commands, stopped) = inbox.take()
      isStopped = stopped
      // Also with each request, in case inotify is not to be had.
      mustLook = mustLook || commands.contains { if case .resolve = $0 { true } else { false } }
      let hasChanged = mustLook && files.look()
      if hasChanged { forget() }
      for command in commands { obey(command) }
      if isStopped {
        for id in waiters.keys { complete(id, .failure(.cancelled)) }
      }
      settle()
      endGraces()
      expire()
      startWaiting()
      runCompletions()
      if hasChanged { inbox.filesChanged() }
    }
    hosts?.close()
    dns?.close()
  }

  private func obey(_ command: ResolverInbox.Command) {
    switch command {
    case .resolve(let request): accept(request)
    case .cancel(let id): complete(id, .failure(.cancelled))
    case .flush: forget()
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
    } else if waiting.count < Limits.namesWaiting {
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
    nextDeadline = min(nextDeadline ?? request.deadline, request.deadline)
  }

  /// Notes the outcome of a request, unless it has one already.
  func complete(_ id: UInt64, _ outcome: Outcome) {
    guard let waiter = waiters.removeValue(forKey: id) else { return }
    queries[waiter.query]?.waiters.remove(id)
    completed.append((waiter.request, outcome))
  }

  private func runCompletions() {
    guard !completed.isEmpty else { return }
    let now = completed
    completed.removeAll()
    inbox.close(requests: now.count)
    for (request, outcome) in now { request.completion(outcome) }
  }

  /// Completes those whose time is over, with what one family has said if that is an address.
  private func expire() {
    let now = Instant.now
    guard let due = nextDeadline, due <= now else { return }
    for (id, waiter) in waiters where waiter.request.deadline <= now {
      let addresses = queries[waiter.query]?.addresses ?? []
      complete(id, addresses.isEmpty ? .failure(.timeout) : .success(addresses))
    }
    nextDeadline = waiters.values.map(\.request.deadline).min()
  }

  private func untilNextTimer() -> Duration? {
    let deadline = nextDeadline.map { Instant.now.duration(to: $0) }
    let grace = nextGrace.map { Instant.now.duration(to: $0) }
    return [deadline, grace, dns?.nextTimeout].compactMap { $0 }.min()
  }

  /// Forgets what is remembered, and asks anew what is being asked: `/etc/resolv.conf` or `/etc/hosts` has changed, or the
  /// way to the servers; sockets go on sending from the address that they began with.
  private func forget() {
    cache.removeAll()
    reopen()
  }
}
