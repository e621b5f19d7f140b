internal import EventStreams
internal import EventLoop
internal import Synchronization

/// The open connections of one server, by token, with the counts that limit them.
///
/// Confined to the server's thread.
final class HTTPConnectionTable {
  private let context: HTTPServerContext
  private var connections: [UInt64: HTTPConnection] = [:]
  /// The last token that was given out; the first ones identify libmicrohttpd and the inbox.
  private var lastToken = HTTPServerLoop.inboxToken
  /// Connections of each client address, where they are limited.
  private var connectionsByAddress: [String: Int] = [:]
  /// Connections that have not sent a request line yet; under TLS, handshakes may be among them.
  private(set) var awaitingFirstRequest = 0
  /// Connections whose request's body is not complete yet.
  private(set) var bodiesAwaited = 0
  /// Connections that end to make room for others, and are not closed yet.
  private var displacedCount = 0
  /// Requests whose head passed and whose response is not sent yet, without streams that have no end.
  private(set) var requestsInFlight = 0

  init(_ context: HTTPServerContext) { self.context = context }

  /// All connections, in no order.
  var all: Dictionary<UInt64, HTTPConnection>.Values { connections.values }

  subscript(token: UInt64) -> HTTPConnection? { connections[token] }

  /// Open connections, without those that end to make room.
  ///
  /// Streams that were taken over are counted here. libmicrohttpd does not count them and would accept without limit.
  var open: Int { context.counters.connections.load(ordering: .relaxed) - displacedCount }

  /// A token that was never used before.
  func nextToken() -> UInt64 {
    lastToken += 1
    return lastToken
  }

  // MARK: - Accepted and closed

  /// Adds a connection and applies the limits to it.
  func insert(_ connection: HTTPConnection) {
    connections[connection.token] = connection
    awaitingFirstRequest += 1
    context.counters.accepted.increment()
    context.counters.connections.increment()
    if open > context.connectionLimit { connection.admission = .exceedsConnectionLimit }
    if acquireAddressSlot(connection) { connection.admission = .exceedsAddressLimit }
  }

  /// Removes a connection that libmicrohttpd closes.
  func remove(_ connection: HTTPConnection) {
    connections[connection.token] = nil
    if !connection.hasReceivedRequest { awaitingFirstRequest -= 1 }
    setAwaitsBody(connection, false)
    if connection.isDisplaced { displacedCount -= 1 }
  }

  /// A connection ends to make room.
  func displaced(_ connection: HTTPConnection) {
    guard !connection.isDisplaced else { return }
    connection.isDisplaced = true
    displacedCount += 1
  }

  /// Why the connection's request is refused for lack of capacity; nil if it is not.
  ///
  /// A connection that is accepted here stays accepted, whatever comes later.
  func capacityRefusal(_ connection: HTTPConnection) -> RequestRefusal? {
    switch connection.admission {
    case .admitted: return nil
    case .exceedsAddressLimit: return .tooManyConnections(limit: context.configuration.connectionsPerAddress ?? 0)
    case .exceedsConnectionLimit:
      if open > context.connectionLimit {
        return .overloaded("too many connections are open")
      }
      connection.admission = .admitted
      return nil
    }
  }

  /// Counts a connection under its client's address.
  ///
  /// - Returns: whether the address has more connections than allowed.
  private func acquireAddressSlot(_ connection: HTTPConnection) -> Bool {
    // Clients of a Unix-domain socket have no addresses.
    guard let limit = context.configuration.connectionsPerAddress, !context.isUnixListener else { return false }
    let address = connection.peerHost
    connection.slotAddress = address
    connectionsByAddress[address, default: 0] += 1
    return connectionsByAddress[address, default: 0] > limit
  }

  /// Releases what ``insert(_:)`` counted under an address.
  func releaseAddressSlot(_ address: String?) {
    guard let address, let count = connectionsByAddress[address] else { return }
    connectionsByAddress[address] = count > 1 ? count - 1 : nil
  }

  // MARK: - Requests

  /// The connection has sent a request line.
  func lineReceived(_ connection: HTTPConnection) {
    if !connection.hasReceivedRequest { awaitingFirstRequest -= 1 }
    connection.hasReceivedRequest = true
  }

  /// Counts the connection's request among those that a stop waits for.
  func begin(_ connection: HTTPConnection) {
    guard !connection.isInFlight else { return }
    connection.isInFlight = true
    requestsInFlight += 1
  }

  /// A stop does not wait for the current request any more.
  func finishRequest(_ connection: HTTPConnection) {
    guard connection.isInFlight else { return }
    connection.isInFlight = false
    requestsInFlight -= 1
  }

  /// Sets whether the connection's request has a body that is not complete.
  func setAwaitsBody(_ connection: HTTPConnection, _ awaitsBody: Bool) {
    guard awaitsBody != connection.awaitsBody else { return }
    connection.awaitsBody = awaitsBody
    bodiesAwaited += awaitsBody ? 1 : -1
  }
}
