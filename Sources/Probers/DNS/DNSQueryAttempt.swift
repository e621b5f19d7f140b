internal import Glibc
internal import EventLoop
internal import ReachabilityModel

/// One query to one address of a DNS server: over UDP, repeated until the server answers, and over TCP if the answer does not fit.
final class DNSQueryAttempt: AddressAttempt, ProberDescriptorHandler {
  private enum Step {
    case datagram, connecting, stream
  }

  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private unowned let connector: AddressConnector
  private unowned let exchange: DNSExchange
  let peer: SocketPeer
  var wakeTime: MonotonicInstant?
  private let options: DNSOptions
  /// The local address of the datagrams.
  private var source: IPAddress?
  private var descriptor: Int32 = -1
  private var socket: ProberTCPSocket?
  private var step = Step.datagram
  private var question: [UInt8] = []
  private var stream = DNSStream()
  private var begun = MonotonicInstant.now
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
    guard let question = DNSStream.query(check.request.target.question, options) else {
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

  // MARK: UDP

  private func openDatagram() throws(SocketFailure) {
    descriptor = try ProberSocket.datagram(to: peer, check.request)
    try loop.descriptors.watch(descriptor, self)
    guard let other = SocketPeer.remote(of: descriptor), other.address == peer.address.unmapped else {
      return loop.conclude(check, .denied)
    }
    source = SocketPeer.local(of: descriptor)?.address
    check.source = source
    sendQuery()
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

  // MARK: TCP

  private func retryOverTCP() {
    loop.descriptors.close(descriptor)
    descriptor = -1
    connector.wake(self, at: nil)
    do throws(SocketFailure) {
      try connectStream()
    } catch {
      fail(error)
    }
  }

  private func connectStream() throws(SocketFailure) {
    step = .connecting
    // The connect phase does not include the time of an earlier truncated answer over UDP.
    begun = .now
    let socket = try ProberTCPSocket(to: peer, check.request)
    self.socket = socket
    try loop.descriptors.watch(socket.descriptor, self)
  }

  private func checkConnection(_ socket: ProberTCPSocket) {
    switch socket.progress() {
    case .pending: return
    case .failed(let failure): fail(failure)
    case .peerMismatch: loop.conclude(check, .denied)
    case .connected(let source):
      check.source = source
      check.note(.connect, since: begun)
      begun = .now
      step = .stream
      stream = DNSStream(sending: question)
      connector.succeeded(self)
    }
  }

  private func runDialogue(_ socket: ProberTCPSocket) {
    switch stream.advance(socket.descriptor) {
    case .waiting: return
    case .broken:
      connector.failed(
        self, ProberResult(.down, .reset, detail: "the server closed the connection before it answered"))
    case .message(let bytes):
      guard let reply = DNSResponse(bytes, to: question) else {
        return connector.failed(self, ProberResult(.down, .noReply, detail: "the response does not answer the query"))
      }
      answered(reply)
    }
  }

  private func fail(_ failure: SocketFailure) { connector.failed(self, failure.finding) }

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
  private func answered(_ reply: DNSResponse) {
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
    if descriptor >= 0 { loop.descriptors.close(descriptor) }
    descriptor = -1
    if let socket { loop.descriptors.close(socket.descriptor) }
    socket = nil
  }
}
