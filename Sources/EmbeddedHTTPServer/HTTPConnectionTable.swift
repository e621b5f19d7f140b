internal import EventStreams
internal import Synchronization

/// The open connections of one server, by token, with the counts that limit them.
///
/// Confined to the server's thread.
final class HTTPConnectionTable {
  private let context: HTTPServerContext
  private var connections: [UInt64: HTTPConnection] = [:]
  /// The last token that was given out; the first ones identify libmicrohttpd and the inbox.
  private var lastToken = HTTPServerContext.inboxToken
  /// Connections of each client address, where they are limited.
  private var connectionsByAddress: [String: Int] = [:]
  /// Connections that end to make room for others, and are not closed yet.
  private var displacedCount = 0

  init(_ context: HTTPServerContext) { self.context = context }

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

  /// Adds a connection and applies the limits to it.
  func insert(_ connection: HTTPConnection) {
    connections[connection.token] = connection
    context.counters.accepted.increment()
    context.counters.connections.increment()
    if open > context.connectionLimit { connection.admission.excess = .connections }
    if acquireAddressSlot(connection) { connection.admission.excess = .address }
  }

  /// Removes a connection that libmicrohttpd closes.
  func remove(_ connection: HTTPConnection) {
    connections[connection.token] = nil
    if connection.charge == nil { displacedCount -= 1 }
  }

  /// A connection ends to make room.
  func displaced() { displacedCount += 1 }

  /// Why the connection's request is refused for lack of capacity; nil if it is not.
  ///
  /// A connection that is accepted here stays accepted, whatever comes later.
  func capacityRefusal(_ connection: HTTPConnection) -> RequestRefusal? {
    switch connection.admission.excess {
    case nil: return nil
    case .address: return .tooManyConnections(limit: context.configuration.connectionsPerAddress ?? 0)
    case .connections:
      if open > context.connectionLimit { return .overloaded("too many connections are open") }
      connection.admission.excess = nil
      return nil
    }
  }

  /// Counts a connection under its client's address.
  ///
  /// - Returns: whether the address has more connections than allowed.
  private func acquireAddressSlot(_ connection: HTTPConnection) -> Bool {
    // Clients of a Unix-domain socket have no addresses.
    guard let limit = context.configuration.connectionsPerAddress, !context.isUnixListener else { return false }
    let address = connection.client.address?.host ?? "unknown"
    connection.admission.address = address
    connectionsByAddress[address, default: 0] += 1
    return connectionsByAddress[address, default: 0] > limit
  }

  /// Releases what ``insert(_:)`` counted under an address.
  func releaseAddressSlot(_ address: String?) {
    guard let address, let count = connectionsByAddress[address] else { return }
    connectionsByAddress[address] = count > 1 ? count - 1 : nil
  }
}

/// How the connection is counted, and whether it is within the limits.
struct HTTPConnectionAdmission {
  enum Excess {
    /// As many connections as allowed were open when it was accepted, and none of its requests was answered since.
    case connections
    /// Too many connections of its client's address are open.
    case address
  }

  /// The limit that the connection exceeds.
  var excess: Excess?
  /// The address that the connection is counted under, where connections are limited by address.
  var address: String?
}
