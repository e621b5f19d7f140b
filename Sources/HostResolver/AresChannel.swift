internal import CAres
internal import EventLoop
internal import Glibc

/// A c-ares channel: the only type that calls c-ares.
///
/// Confined to the thread that made it.
///
/// The callbacks of c-ares only collect answers, which are processed after its call has returned: calls to c-ares from
/// inside its callbacks trigger re-entrancy bugs.
@safe final class AresChannel {
  /// The result of the query for one family.
  struct Answer {
    let query: UInt64
    let attempt: Int
    let family: Family
    let outcome: Result<ResolvedAddresses, LookupFailure>

    /// Whether no server responded.
    var isTimeout: Bool { outcome == .failure(.timeout) }
  }

  enum Family { case any, ipv4, ipv6 }

  /// Why a family has no address.
  enum LookupFailure: Error, Equatable {
    case notFound, timeout
    case failed(String)
  }

  enum Source: String {
    case hosts = "f"
    case dns = "b"
  }

  private var answers: [Answer] = []
  private var channel: ares_channel?
  private let poller: Poller
  private var descriptors: Set<Int32> = []
  /// The indexes of the interfaces that link-local servers are on, by address.
  var zones: [[UInt8]: UInt32] = [:]

  /// Opens a channel; `serverTimeout` is the first timeout for a server, which c-ares doubles in later rounds.
  init(
    _ source: Source, _ configuration: ResolverConfiguration, serverTimeout: Duration, usesTCP: Bool = false,
    poller: Poller
  ) throws(HostResolutionFailure) {
    self.poller = poller
    guard Self.libraryCode == cares_success else { throw .serverFailure("c-ares cannot be initialized") }
    var options = unsafe ares_options()
    // HOSTALIASES in the environment would replace the requested names.
    unsafe options.flags = Int32(ARES_FLAG_NOALIASES) | (usesTCP ? Int32(ARES_FLAG_USEVC) : 0)
    unsafe options.timeout = Int32(serverTimeout / .milliseconds(1))
    unsafe options.tries = Int32(Limits.dnsTries)
    unsafe options.socket_receive_buffer_size = Limits.dnsReceiveBuffer
    unsafe options.sock_state_cb = aresSocketStateCallback
    unsafe options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
    let mask =
      unsafe cares_set_no_cache(&options) | ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_RCVBUF
      // An empty search list: see ``ResolverSearchList``.
      | ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS | ARES_OPT_RESOLVCONF | ARES_OPT_DOMAINS
    var opened: ares_channel?
    // strdup: c-ares requires mutable strings, and copies them.
    let lookups = unsafe strdup(source.rawValue)
    let path = unsafe strdup(configuration.resolvConfPath)
    defer {
      unsafe free(lookups)
      unsafe free(path)
    }
    unsafe options.lookups = lookups
    unsafe options.resolvconf_path = path
    let code = unsafe ares_init_options(&opened, &options, mask)
    guard code == cares_success, let opened = unsafe opened else { throw .serverFailure(Self.text(code)) }
    unsafe channel = opened
    unsafe ares_set_socket_configure_callback(opened, aresConfigureCallback, nil)
    try unsafe setServers(configuration, of: opened)
  }

  deinit { close() }

  /// The one-time initialization of c-ares, which must precede any channel.
  private static let libraryCode = ares_library_init(Int32(ARES_LIB_INIT_ALL))

  /// Fails every open query and closes the sockets.
  func close() {
    guard let open = unsafe channel else { return }
    // Cancelled first: c-ares 1.18 frees open getaddrinfo queries more than once when a channel is destroyed.
    unsafe ares_cancel(open)
    unsafe ares_destroy(open)
    unsafe channel = nil
  }

  var serverCount: Int {
    guard let channel = unsafe channel else { return 0 }
    var head: UnsafeMutablePointer<ares_addr_port_node>?
    guard unsafe cares_get_servers(channel, &head) == cares_success else { return 0 }
    defer { if let head = unsafe head { unsafe ares_free_data(head) } }
    var count = 0
    var node = unsafe head
    while let current = unsafe node {
      count += 1
      unsafe node = current.pointee.next
    }
    return count
  }

  /// Starts a query; the answer is added to ``answers``, possibly before this returns.
  func query(_ name: String, _ family: Family, query: UInt64, attempt: Int) {
    guard let channel = unsafe channel else { return }
    var hints = ares_addrinfo_hints()
    // Unsorted: sorting opens a socket per address, and the users of the addresses determine the order.
    hints.ai_flags = Int32(ARES_AI_NOSORT)
    hints.ai_family =
      switch family {
      case .any: AF_UNSPEC
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      }
    let question = AresQuery(channel: self, query: query, attempt: attempt, family: family)
    unsafe ares_getaddrinfo(
      channel, name, nil, &hints, aresAddrInfoCallback, Unmanaged.passRetained(question).toOpaque())
  }

  /// Makes c-ares read from or write to one of its sockets.
  func process(_ event: Poller.Event) {
    guard let channel = unsafe channel else { return }
    unsafe ares_process_fd(
      channel, event.isReadable ? event.descriptor : -1, event.isWritable ? event.descriptor : -1)
    if event.events.contains(.error) { emptyErrorQueue(of: event.descriptor) }
  }

  /// Discards queued errors, which epoll(7) would report forever.
  ///
  /// c-ares has seen the first one, unless sending returned it; then it keeps the socket.
  private func emptyErrorQueue(of descriptor: Int32) {
    guard descriptors.contains(descriptor) else { return }
    let flags = Int32(cares_errqueue) | Int32(MSG_DONTWAIT)
    for _ in 0..<Limits.queuedErrors where recv(descriptor, nil, 0, flags) < 0 { return }
  }

  /// Makes c-ares handle expired queries.
  func processTimeouts() {
    guard let channel = unsafe channel else { return }
    unsafe ares_process_fd(channel, -1, -1)
  }

  /// How long until ``processTimeouts()`` has work; nil when no query is open.
  var nextTimeout: Duration? {
    guard let channel = unsafe channel else { return nil }
    var room = timeval()
    guard let next = unsafe ares_timeout(channel, nil, &room) else { return nil }
    return unsafe .seconds(next.pointee.tv_sec) + .microseconds(next.pointee.tv_usec)
  }

  /// Called by the callback of c-ares.
  func collect(_ answer: Answer) { answers.append(answer) }

  func takeAnswers() -> [Answer] {
    defer { answers.removeAll() }
    return answers
  }

  static func text(_ code: Int32) -> String { unsafe String(cString: ares_strerror(code)) }

  func watch(_ descriptor: Int32, reading: Bool, writing: Bool) {
    guard reading || writing else {
      descriptors.remove(descriptor)
      return poller.remove(descriptor)
    }
    descriptors.insert(descriptor)
    // If the kernel refuses, c-ares' own timeout ends the query.
    try? poller.set(descriptor, (reading ? Poller.Events.readable : []).union(writing ? .writable : []))
  }
}
