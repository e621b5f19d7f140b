internal import EventStreams

/// The memory of incomplete request bodies and of responses that clients have not received yet, with a limit.
///
/// A client that sends or reads slowly occupies the memory of its body for a long time, and needs no authorization for
/// that. When the limit is exceeded, the connections whose transfers began first are ended: other clients finish theirs
/// within milliseconds.
///
/// Confined to the server's thread.
final class TransferMemory {
  /// A body of a connection that is in memory.
  private struct Transfer {
    let connection: HTTPConnection
    /// The place in the order of beginnings.
    let number: UInt64
    var bytes: Int
  }

  private let context: HTTPServerContext
  private let direct: DirectResponder
  private let limit: Int
  private var transfers: [UInt64: Transfer] = [:]
  private var total = 0
  private var lastNumber: UInt64 = 0

  init(_ context: HTTPServerContext, _ direct: DirectResponder) {
    self.context = context
    self.direct = direct
    limit = context.configuration.transferMemory / max(1, context.configuration.servers)
  }

  /// A body of this size is in memory for a connection; ends other connections if all bodies exceed the limit.
  func hold(_ bytes: Int, for connection: HTTPConnection) {
    guard bytes >= Limits.countedTransfer else { return }
    if transfers[connection.token] == nil {
      lastNumber += 1
      transfers[connection.token] = Transfer(connection: connection, number: lastNumber, bytes: 0)
    }
    total += bytes - (transfers[connection.token]?.bytes ?? 0)
    transfers[connection.token]?.bytes = bytes
    while total > limit, let oldest = oldest(except: connection) { end(oldest) }
  }

  /// The body of a connection is complete or sent, or the connection is closed.
  func release(_ connection: HTTPConnection) {
    // Most requests and responses are short.
    guard !transfers.isEmpty, let transfer = transfers.removeValue(forKey: connection.token) else { return }
    total -= transfer.bytes
  }

  private func oldest(except connection: HTTPConnection) -> HTTPConnection? {
    transfers.values.lazy.filter { $0.connection !== connection }.min { $0.number < $1.number }?.connection
  }

  private func end(_ connection: HTTPConnection) {
    release(connection)
    if connection.awaitsBody {
      direct.refuseDirectly(connection, .overloaded("too many request bodies are incomplete; send this one faster"))
      connection.request?.body = []
    } else {
      connection.shutDownConnection()
    }
    context.counters.overloaded.increment()
  }
}
