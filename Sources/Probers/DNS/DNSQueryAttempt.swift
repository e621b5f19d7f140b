internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// One query to one address of a DNS server: over UDP, repeated until the server answers, and over TCP if the answer does not fit.
final class DNSQueryAttempt: AddressAttempt, ProberDescriptorHandler {
  enum Step {
    case datagram, connecting, stream
  }

  unowned let check: ProberCheck
  unowned let loop: ProberLoop
  unowned let connector: AddressConnector
  private unowned let exchange: DNSExchange
  let peer: SocketPeer
  var wakeTime: MonotonicInstant?
  private let options: DNSOptions
  /// The local address of the datagrams.
  private var source: IPAddress?
  var descriptor: Int32 = -1
  var socket: ProberTCPSocket?
  var step = Step.datagram
  var question: [UInt8] = []
  var unsent: ArraySlice<UInt8> = []
  var received: [UInt8] = []
  var begun = MonotonicInstant.now
  private var retransmitInterval = Limits.dnsRepeat
  private var hasSent = false
  /// The number of received packets that do not answer this query.
  private var unmatchedResponses = 0

  init(
    _ check: ProberCheck, _ peer: SocketPeer, _ options: DNSOptions, _ loop: ProberLoop, _ connector: AddressConnector,
    for exchange: DNSExchange
  ) {
    self.check = check
    self.peer = peer
    self.options = options
    self.loop = loop
    self.connector = connector
    self.exchange = exchange
  }

  func begin() {
    guard let question = packet() else {
      return loop.conclude(
        check, ProberResult(.unknown, .cancelled, detail: "the name cannot be encoded in a DNS query"))
    }
    self.question = question
    do throws(SocketFailure) {
      if options.usesTCP { try connectStream() } else { try openDatagram() }
    } catch {
      fail(error)
    }
  }

  private func packet() -> [UInt8]? {
    guard let question = check.request.target.question else { return nil }
    var buffer: UnsafeMutablePointer<UInt8>?
    var length: Int32 = 0
    let name = question.name.isEmpty ? "." : question.name
    let code = unsafe cares_create_query(
      name, Int32(question.type.rawValue), UInt16.random(in: 0...UInt16.max), options.recursion ? 1 : 0, &buffer,
      &length)
    guard code == cares_success, let buffer = unsafe buffer else { return nil }
    defer { unsafe ares_free_string(buffer) }
    return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
  }

  // MARK: UDP

  private func openDatagram() throws(SocketFailure) {
    let family = peer.address.unmapped.family
    descriptor = Glibc.socket(family == .ipv4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue) | ProberSocket.flags, 0)
    guard descriptor >= 0 else { throw .immediate(errno) }
    try ProberSocket.bind(descriptor, check.request, family: family)
    try reportAllErrors(of: descriptor, family)
    // Connected, so that the socket receives only packets of this peer, and ICMP errors.
    guard unsafe peer.withSocketAddress({ unsafe connect(descriptor, $0, $1) }) == 0 else { throw .immediate(errno) }
    try loop.watch(descriptor, self)
    guard let other = SocketPeer.remote(of: descriptor), other.address == peer.address.unmapped else {
      return loop.conclude(check, .denied)
    }
    source = SocketPeer.local(of: descriptor)?.address
    check.source = source
    sendQuery()
  }

  /// Has the socket report also that a host or network is unreachable, which UDP ignores by default (ip(7), `IP_RECVERR`).
  private func reportAllErrors(of descriptor: Int32, _ family: IPAddress.Family) throws(SocketFailure) {
    var isOn: Int32 = 1
    let level = family == .ipv4 ? Int32(IPPROTO_IP) : Int32(IPPROTO_IPV6)
    let option = family == .ipv4 ? Int32(csockets_ip_recverr) : Int32(csockets_ipv6_recverr)
    let length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe setsockopt(descriptor, level, option, &isOn, length) == 0 else { throw .immediate(errno) }
  }

  private func sendQuery() {
    let sent = unsafe send(descriptor, question, question.count, Int32(MSG_NOSIGNAL))
    if sent < 0, errno != EAGAIN {
      // An error of an earlier packet, if there was one: no server listens on the port.
      let failure = hasSent ? SocketFailure.later(errno) : .immediate(errno)
      return fail(failure)
    }
    hasSent = true
    connector.wake(self, at: .now.advanced(by: retransmitInterval))
  }

  /// Repeats the query: a packet may have been lost.
  func awake() {
    guard step == .datagram else { return }
    retransmitInterval = retransmitInterval * 2
    sendQuery()
  }

  private func readDatagrams() {
    for _ in 0..<Limits.dnsPackets {
      switch ProberReadBuffer.read(descriptor) {
      case .nothing: return
      case .end: unmatchedResponses += 1
      case .failed(let code): return fail(.later(code))
      case .bytes(let bytes):
        guard let reply = DNSResponse(bytes, to: question) else {
          unmatchedResponses += 1
          continue
        }
        return answered(reply)
      }
    }
    connector.failed(
      self, ProberResult(.down, .noReply, detail: "too many packets that do not answer the query"))
  }

  func fail(_ failure: SocketFailure) { connector.failed(self, failure.finding) }

  func ready(_ event: Poller.Event) {
    if step == .datagram {
      if event.isReadable { readDatagrams() }
      return
    }
    guard let socket else { return }
    if step == .connecting { checkConnection(socket) }
    if step == .stream { runDialogue(socket) }
  }

  /// Ends the queries to other addresses, and evaluates the response.
  func answered(_ reply: DNSResponse) {
    // The first response, also a truncated one; over TCP the first connection.
    connector.succeeded(self)
    guard !reply.isTruncated || step != .datagram else { return retryOverTCP() }
    if step == .datagram { check.source = source }
    check.note(.processing, since: begun)
    exchange.judge(reply)
  }

  func overdue() -> ProberResult {
    switch step {
    case .datagram:
      let message =
        unmatchedResponses == 0
        ? "the server did not answer" : "\(unmatchedResponses) packets received, none of which answers the query"
      return ProberResult(.down, .noReply, detail: message)
    case .connecting:
      return ProberResult(.down, .connectTimeout, detail: "no response to the connection attempt")
    case .stream:
      return ProberResult(.down, .timeout, detail: "connected, but no complete answer before the timeout")
    }
  }

  func end() {
    if descriptor >= 0 { loop.close(descriptor) }
    descriptor = -1
    if let socket { loop.close(socket.descriptor) }
    socket = nil
  }
}
