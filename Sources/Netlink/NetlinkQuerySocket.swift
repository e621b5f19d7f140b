internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// A socket for requests to the kernel: tables, the barrier and (in an extension) routes.
///
/// It is used by one thread at a time.
final class NetlinkQuerySocket {
  private let socket: NetlinkSocket
  /// Nil for a socket that makes no route lookups.
  let sources: NetlinkSourceAddressLookup?
  /// Stored between requests to reuse its memory.
  private var request = NetlinkRequest()
  private var sequence: UInt32 = 0
  /// Dumps that were used although a change interrupted every attempt: they may be inconsistent.
  private(set) var interruptedDumps: UInt64 = 0

  /// Opens the socket, and one more unless it is for barriers only.
  ///
  /// - Throws: a ``KernelError`` when the kernel refuses.
  init(forBarriers: Bool = false) throws(KernelError) {
    socket = try NetlinkSocket(bufferBytes: Limits.queryBuffer, timeout: Limits.queryTimeout)
    sources = forBarriers ? nil : try NetlinkSourceAddressLookup()
  }

  /// Reserves `count` sequence numbers, never 0, which the kernel's events carry.
  private func takeSequences(_ count: Int) -> UInt32 {
    if sequence > UInt32.max - UInt32(count) - 1 { sequence = 0 }
    let first = sequence + 1
    sequence += UInt32(count)
    return first
  }

  /// Waits until the kernel has completed every change of links, addresses and IPv4 flushes that it has announced.
  ///
  /// The kernel sends `RTM_NEWLINK` (down) and `RTM_DELADDR` *before* it flushes the routes, flushes IPv4 routes
  /// without any event, and answers lookups without the RTNL lock. A lookup that does not wait may get the old state,
  /// and no event announces the new one. A request that needs the lock waits for the writer. A request for a link that
  /// cannot exist is the cheapest one.
  func barrier() throws(KernelError) {
    let sequence = takeSequences(1)
    request.removeAll()
    request.message(RTM_GETLINK, sequence: sequence) { Self.appendLinkHeader(index: 0x7fff_fffe, to: &$0) }
    try socket.send(request)
    var answered = false
    while !answered {
      // Any response shows that the request held the lock.
      try receive("barrier") { if $0.sequence == sequence { answered = true } }
    }
  }

  /// Reads one link, under the lock that the barrier waits for; nil when it does not exist.
  func link(_ index: UInt32) throws(KernelError) -> NetlinkLinkMessage? {
    let sequence = takeSequences(1)
    request.removeAll()
    request.message(RTM_GETLINK, sequence: sequence) {
      Self.appendLinkHeader(index: index, to: &$0)
      $0.attribute(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }
    try socket.send(request)
    var answer: NetlinkContent?
    while answer == nil {
      try receive("RTM_GETLINK") { if $0.sequence == sequence { answer = NetlinkDecoder.content(of: $0) } }
    }
    switch answer {
    case .link(let link): return link
    case .ack(let ack) where ack.errno == ENODEV: return nil
    case .ack(let ack): throw KernelError("RTM_GETLINK", ack)
    default: throw .malformed("RTM_GETLINK")
    }
  }

  /// Appends a `struct ifinfomsg` that is zero except for the index.
  static func appendLinkHeader(index: UInt32, to request: inout NetlinkRequest) {
    request.append(UInt32(0))
    request.append(index)
    request.append(UInt64(0))
  }

  /// Reads a table.
  ///
  /// - Parameters:
  ///   - operation: the name of the operation in errors.
  ///   - type: `RTM_GET*`.
  ///   - header: writes the bytes after the message header.
  ///   - restart: called before every attempt.
  ///   - body: receives each message; returns false when the message cannot be read.
  /// - Throws: a ``KernelError`` when the kernel refuses or does not answer in time.
  func dump(
    _ operation: String, _ type: Int, _ header: (inout NetlinkRequest) -> Void, restart: () -> Void = {},
    body: (NetlinkMessage) -> Bool
  ) throws(KernelError) {
    for _ in 0..<Limits.dumpAttempts {
      restart()
      let sequence = takeSequences(1)
      request.removeAll()
      request.message(type, flags: Int32(NLM_F_DUMP), sequence: sequence, header)
      try socket.send(request)
      guard try dumpWasInterrupted(operation, sequence, body) else { return }
    }
    interruptedDumps += 1
  }

  /// Receives a dump to its end.
  ///
  /// - Returns: true when a change interrupted it or a part was lost, so that it must be repeated.
  private func dumpWasInterrupted(
    _ operation: String, _ sequence: UInt32, _ body: (NetlinkMessage) -> Bool
  ) throws(KernelError) -> Bool {
    var isInterrupted = false
    var end: NetlinkAck?
    var isMalformed = false
    while end == nil {
      let isComplete = try receive(operation) { message in
        guard message.sequence == sequence else { return }
        isInterrupted = isInterrupted || message.isInterrupted
        switch message.type {
        case Int(NLMSG_DONE), Int(NLMSG_ERROR):
          switch NetlinkDecoder.content(of: message) {
          case .done(let ack), .ack(let ack): end = ack
          default: isMalformed = true
          }
        default: if !body(message) { isMalformed = true }
        }
      }
      // The dump must still be read to its end: the kernel refuses a second one on the same socket (EBUSY).
      isInterrupted = isInterrupted || !isComplete
    }
    if let end, end.errno != 0 { throw KernelError(operation, end) }
    guard !isMalformed else { throw .malformed(operation) }
    return isInterrupted
  }

  /// Sends lookups together, and returns them with the kernel's answers.
  func answered(_ unanswered: consuming [NetlinkRouteLookup]) throws(KernelError) -> [NetlinkRouteLookup] {
    var lookups = unanswered
    guard !lookups.isEmpty else { return lookups }
    let first = takeSequences(lookups.count * 2)
    request.removeAll()
    for index in lookups.indices {
      lookups[index].hasErrorTexts = socket.hasErrorTexts
      lookups[index].append(to: &request, sequence: first + UInt32(index * 2))
    }
    try socket.send(request)
    var missing = lookups.count * 2
    while missing > 0 {
      let isComplete = try receive("RTM_GETROUTE") { message in
        // Responses to an earlier, abandoned request have a lower number.
        guard message.sequence >= first, message.sequence - first < UInt32(lookups.count * 2) else { return }
        let answer: NetlinkRouteLookup.Answer
        switch NetlinkDecoder.content(of: message) {
        case .route(let route): answer = .route(route)
        case .ack(let ack): answer = .refused(ack)
        default: answer = .refused(NetlinkAck(errno: EPROTO, text: nil))
        }
        let index = Int(message.sequence - first)
        if index.isMultiple(of: 2) { lookups[index / 2].match = answer } else { lookups[index / 2].plain = answer }
        missing -= 1
      }
      guard isComplete else { throw KernelError("RTM_GETROUTE", errno: ENOBUFS) }
    }
    return lookups
  }

  /// Receives one datagram and visits its messages.
  ///
  /// - Returns: false when something was lost before it.
  /// - Throws: ETIMEDOUT when no datagram arrives before the timeout.
  @discardableResult
  private func receive(_ operation: String, _ body: (NetlinkMessage) -> Void) throws(KernelError) -> Bool {
    switch try socket.receive(blocking: true) {
    case .nothing: throw KernelError(operation, errno: ETIMEDOUT)
    case .lost: return false
    case .datagram(let datagram):
      guard NetlinkDecoder.forEachMessage(in: datagram, body) else { throw .malformed(operation) }
      return true
    }
  }
}

extension KernelError {
  /// The kernel's refusal, with its own text if it has one.
  init(_ operation: String, _ ack: NetlinkAck) {
    let plain = KernelError(operation, errno: ack.errno)
    self.init(operation: operation, errno: ack.errno, message: ack.text ?? plain.message)
  }
}
