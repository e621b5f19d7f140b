internal import Glibc
internal import Locks

/// What a server of these tests does with one question.
public enum DNSReply: Sendable {
  /// The addresses of the family that is asked for.
  case addresses([[UInt8]], timeToLive: UInt32 = 60)
  /// `aliases` lead from the name asked for to the owner of the addresses.
  case aliased([String], [[UInt8]], aliasLife: UInt32 = 60, timeToLive: UInt32 = 60)
  /// Records of the type that is asked for, with this data.
  case data([[UInt8]])
  /// An error code and nothing else.
  case code(UInt8)
  /// No answer.
  case silence
  /// Kept until `release()`.
  case held([[UInt8]])
  /// An answer with another id, from an attacker who guessed wrong, and no other.
  case wrongID([[UInt8]])
  /// Empty and truncated over UDP; the addresses over TCP.
  case truncated([[UInt8]])
  /// Half a message.
  case garbage
  /// Aliases that lead back to the name.
  case loop([String])

  /// SERVFAIL.
  public static let serverFailure = DNSReply.code(2)
  /// NXDOMAIN.
  public static let noSuchName = DNSReply.code(3)
  /// REFUSED.
  public static let refused = DNSReply.code(5)
  /// The name exists and has no address.
  public static let noData = DNSReply.addresses([])
}

/// A DNS server on 127.0.0.1, UDP and TCP on one port, that answers as it is told and counts.
public final class DNSServer: Sendable {
  /// Says what to do with a question.
  public typealias Handler = @Sendable (_ name: String, _ type: UInt16) -> DNSReply

  private struct State {
    var handler: Handler
    /// By name, the ids of its questions: c-ares keeps the id when it asks again, and a busy machine makes it ask again.
    var asked: [String: Set<UInt32>] = [:]
    var isOver = false
    var held: [@Sendable () -> Void] = []
    /// The ports that datagrams came from, and those of them that are no longer heard.
    var ports: Set<UInt16> = []
    var unheard: Set<UInt16> = []
    /// The names that these asked for.
    var ignored: Set<String> = []
  }

  /// The port on 127.0.0.1.
  public let port: UInt16
  private let datagrams: Int32
  private let state: Locked<State>

  /// `127.0.0.1:port`, as a list of name servers has it.
  public var address: String { "127.0.0.1:\(port)" }

  /// Begins to answer.
  ///
  /// - Parameters:
  ///   - host: an address of 127.0.0.0/8, by its last octet.
  ///   - port: the port; 0 for a free one.
  ///   - handler: says how.
  /// - Throws: when the system has no socket for it.
  public init(host: UInt8 = 1, port: UInt16 = 0, _ handler: @escaping Handler) throws {
    state = Locked(State(handler: handler))
    let listener: Int32
    (datagrams, listener, self.port) = try Self.pair(host, port)
    guard listen(listener, 8) == 0 else { throw Loopback.Failure(operation: "listen") }
    for descriptor in [datagrams, listener] {
      // The threads look around now and then whether the test is over.
      var patience = timeval(tv_sec: 0, tv_usec: 100_000)
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    Loopback.thread { [weak self, datagrams] in
      defer { close(datagrams) }
      while let server = self, !server.isOver { server.serveDatagram() }
    }
    Loopback.thread { [weak self] in
      defer { close(listener) }
      while let server = self, !server.isOver { server.serveStream(listener) }
    }
  }

  /// A datagram and a stream socket on one port; the first port may be in use for TCP.
  private static func pair(
    _ host: UInt8, _ wanted: UInt16
  ) throws -> (datagrams: Int32, listener: Int32, port: UInt16) {
    for _ in 0..<50 {
      let (datagrams, port) = try Loopback.bound(.datagram, host: host, port: wanted)
      if let listener = try? Loopback.bound(.stream, host: host, port: port).descriptor {
        return (datagrams, listener, port)
      }
      close(datagrams)
    }
    throw Loopback.Failure(operation: "bind")
  }

  private var isOver: Bool { state.withLock { $0.isOver } }

  /// Ends the threads.
  public func stop() { state.withLock { $0.isOver = true } }

  /// How many questions there were about a name, each family's counted and repetitions not.
  public func count(_ name: String) -> Int { state.withLock { $0.asked[name]?.count ?? 0 } }

  /// Whether a datagram has arrived.
  public var hasDatagrams: Bool { state.withLock { !$0.ports.isEmpty } }

  /// How many questions there were about all names.
  public var total: Int { state.withLock { $0.asked.values.reduce(0) { $0 + $1.count } } }

  /// Answers otherwise from now on.
  public func answer(with handler: @escaping Handler) { state.withLock { $0.handler = handler } }

  /// Hears nothing more from the sockets that have sent datagrams, as if they sent from an address that is gone.
  public func ignoreKnownSockets() { state.withLock { $0.unheard = $0.ports } }

  /// Whether a question about a name came from one of these sockets.
  public func hasIgnored(_ name: String) -> Bool { state.withLock { $0.ignored.contains(name) } }

  /// Sends the answers that were held back.
  public func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for send in held { send() }
  }

  /// The reply to a question.
  ///
  /// A question is counted when its answer can be released: a test that waits for the count may release at once.
  private func reply(to message: DNSMessage, holding send: (@Sendable ([UInt8]) -> Void)? = nil) -> DNSReply {
    let handler = state.withLock(\.handler)
    let reply = handler(message.name, message.type)
    state.withLock { state in
      state.asked[message.name, default: []].insert(UInt32(message.type) << 16 | UInt32(message.id))
      guard case .held(let addresses) = reply, let send else { return }
      let answer = Self.encoded(.addresses(addresses), to: message)
      state.held.append { send(answer) }
    }
    return reply
  }

  private func serveDatagram() {
    var peer = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bytes = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe [UInt8](unsafeUninitializedCapacity: 1_500) { buffer, filled in
          filled = unsafe max(0, recvfrom(datagrams, buffer.baseAddress, buffer.count, 0, raw, &length))
        }
      }
    }
    guard let message = DNSMessage(query: bytes) else { return }
    let isHeard = state.withLock { state in
      state.ports.insert(peer.sin_port)
      guard state.unheard.contains(peer.sin_port) else { return true }
      state.ignored.insert(message.name)
      return false
    }
    guard isHeard else { return }
    let destination = peer
    let reply = reply(to: message) { [datagrams] in Self.send($0, to: destination, on: datagrams) }
    Self.send(Self.encoded(reply, to: message), to: destination, on: datagrams)
  }

  private func serveStream(_ listener: Int32) {
    let peer = accept(listener, nil, nil)
    guard peer >= 0 else { return }
    defer { close(peer) }
    // One question a connection: c-ares sends the two of a name one after the other on the same connection.
    while true {
      let head = Loopback.receive(2, from: peer)
      guard head.count == 2 else { return }
      let bytes = Loopback.receive(Int(head[0]) << 8 | Int(head[1]), from: peer)
      guard let message = DNSMessage(query: bytes) else { return }
      var reply = reply(to: message)
      if case .truncated(let addresses) = reply { reply = .addresses(addresses) }
      let answer = Self.encoded(reply, to: message)
      Loopback.send(DNSMessage.pair(UInt16(answer.count)) + answer, to: peer)
    }
  }

  private static func encoded(_ reply: DNSReply, to message: DNSMessage) -> [UInt8] {
    switch reply {
    case .addresses(let addresses, let timeToLive):
      let records = records(addresses, owner: message.name, message.type, timeToLive)
      return message.answer(code: 0, records: records)
    case .aliased(let aliases, let addresses, let aliasLife, let timeToLive):
      let owners = [message.name] + aliases
      let chain = zip(owners, aliases).map {
        DNSMessage.Record(
          owner: $0, type: DNSMessage.cname, timeToLive: aliasLife, data: DNSMessage.encoded($1))
      }
      let last = records(addresses, owner: owners[owners.count - 1], message.type, timeToLive)
      return message.answer(code: 0, records: chain + last)
    case .loop(let aliases):
      let owners = [message.name] + aliases
      let chain = zip(owners, aliases + [message.name]).map {
        DNSMessage.Record(owner: $0, type: DNSMessage.cname, timeToLive: 60, data: DNSMessage.encoded($1))
      }
      return message.answer(code: 0, records: chain)
    case .data(let data):
      let records = data.map { DNSMessage.Record(owner: message.name, type: message.type, timeToLive: 60, data: $0) }
      return message.answer(code: 0, records: records)
    case .code(let code): return message.answer(code: code, records: [])
    case .wrongID(let addresses):
      return message.answer(
        code: 0, records: records(addresses, owner: message.name, message.type, 60), idOffset: 1)
    case .truncated: return message.answer(code: 0, records: [], isTruncated: true)
    case .garbage: return Array(message.answer(code: 0, records: []).prefix(12)) + [0xC0, 0x0C, 0xFF]
    case .silence, .held: return []
    }
  }

  /// Only the addresses of the family that was asked for.
  private static func records(
    _ addresses: [[UInt8]], owner: String, _ type: UInt16, _ timeToLive: UInt32
  ) -> [DNSMessage.Record] {
    addresses.filter { $0.count == (type == DNSMessage.a ? 4 : 16) }.map {
      DNSMessage.Record(owner: owner, type: type, timeToLive: timeToLive, data: $0)
    }
  }

  private static func send(_ bytes: [UInt8], to peer: sockaddr_in, on descriptor: Int32) {
    guard !bytes.isEmpty else { return }
    var peer = peer
    unsafe withUnsafeMutablePointer(to: &peer) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        _ = unsafe sendto(
          descriptor, bytes, bytes.count, 0, raw, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
