internal import EventStreams
internal import EventLoop
internal import Synchronization

/// The memory that the connections of a server use, with a limit.
///
/// A connection is charged with its buffers, with its request while that is incomplete or waits, with its response until
/// the client has received it, and with what the kernel holds for its socket. A client needs no authorization for any of
/// these. Beyond the limit, connections are ended in the order of ``ConnectionDisplacement``.
///
/// Confined to the server's thread.
final class ConnectionMemory {
  let context: HTTPServerContext
  let connections: HTTPConnectionTable
  let direct: DirectResponder
  let deferred: DeferredResponses
  private let unsent: UnsentHTTPSockets
  private let takeover: HTTPStreamTakeover?
  /// Bytes that connections are charged with, without those of taken-over streams.
  private var charged = 0
  /// The limit in bytes at ``readAt``.
  private var limit: Int
  private var readAt: MonotonicInstant?
  private var hasTimer = false
  /// Open streams by callback that are charged as streams.
  var callbackStreams = 0

  init(
    _ context: HTTPServerContext, _ connections: HTTPConnectionTable, _ direct: DirectResponder,
    _ deferred: DeferredResponses, _ takeover: HTTPStreamTakeover?
  ) {
    self.context = context
    self.connections = connections
    self.direct = direct
    self.deferred = deferred
    unsent = UnsentHTTPSockets(context)
    self.takeover = takeover
    limit = context.guaranteedMemory
    context.counters.memoryLimit.store(limit, ordering: .relaxed)
  }

  // MARK: - Charges

  /// Adds an accepted connection.
  ///
  /// - Returns: false if there is no room for it, and none can be made.
  func admit(_ connection: HTTPConnection) -> Bool {
    connections.insert(connection)
    charge(connection, \.fixed, fixedBytes(connection))
    // Above the limit, a connection takes the place of another one with its first request. libmicrohttpd accepts none once
    // these are as many as it allows.
    if connections.open >= context.connectionLimit + Limits.overload { displace(connections: batch, for: connection) }
    if connections.open >= Limits.auditedConnections { planAudit() }
    settle(for: connection)
    return connections.open <= context.connectionLimit + Limits.overload && total <= currentLimit
  }

  /// A connection is about to be closed.
  func closed(_ connection: HTTPConnection) {
    guard let charge = connection.charge else { return }
    release(all: connection)
    guard charge.uncheckedOutput >= Limits.countedResponse || charge.socket > 0, !connection.isEnding else { return }
    let bytes = connection.client.unsentBytes
    guard bytes >= Limits.countedResponse else { return }
    unsent.add(connection, unsent: bytes)
    publish()
    settle(for: nil)
    planAudit()
  }

  /// The connection is closed, or ends to make room and is not counted any more.
  func release(all connection: HTTPConnection) {
    guard let charge = connection.charge else { return }
    if charge.isStream { callbackStreams -= 1 }
    charged -= charge.total
    connection.charge = nil
    publish()
  }

  /// A connection's request or response occupies this memory; ends other connections if all of them exceed the limit.
  func hold(_ bytes: Int, for connection: HTTPConnection) {
    charge(connection, \.exchange, bytes)
    settle(for: connection)
  }

  /// The request of a connection is complete, or its response is sent.
  func release(_ connection: HTTPConnection) {
    // Most requests and responses are short.
    if connection.charge?.exchange ?? 0 > 0 { charge(connection, \.exchange, 0) }
  }

  /// Bytes of a connection's buffers and objects.
  func fixedBytes(_ connection: HTTPConnection) -> Int {
    connection.client.isPlain ? Limits.connectionBytes : Limits.secureConnectionBytes
  }

  func charge(_ connection: HTTPConnection, _ part: WritableKeyPath<ConnectionCharge, Int>, _ bytes: Int) {
    // What is left of a displaced connection is gone after the next turn.
    guard let before = connection.charge?[keyPath: part] else { return }
    charged += bytes - before
    connection.charge?[keyPath: part] = bytes
    publish()
  }

  /// Bytes of the sockets of streams whose clients do not read.
  private var stalled: Int { context.counters.streams.behind.load(ordering: .relaxed) * Limits.stalledStreamBytes }

  /// Bytes of all connections and streams.
  private var total: Int {
    charged + context.counters.streams.open.load(ordering: .relaxed) * Limits.streamBytes + stalled + unsent.bytes
  }

  private func publish() { context.counters.memory.store(total, ordering: .relaxed) }

  // MARK: - Sockets

  /// Charges what the kernel buffers for a connection, after responses of some length were sent.
  func checkSocket(_ connection: HTTPConnection) {
    examine(connection)
    settle(for: connection)
  }

  /// Charges what the kernel buffers for a connection in both directions.
  private func examine(_ connection: HTTPConnection) {
    connection.charge?.uncheckedOutput = 0
    // A client needs a round trip for the acknowledgement of a short response. What it sends is not read while a response is
    // due.
    let bytes = [connection.client.unsentBytes, connection.client.unreadBytes].reduce(0) {
      $0 + ($1 < Limits.freeSocketBytes ? 0 : $1 * Limits.socketOverhead)
    }
    guard bytes != connection.charge?.socket else { return }
    charge(connection, \.socket, bytes)
    if connection.phase.deferral == nil { connection.exchangeBegins() }
  }

  /// A client sends while its response is due: limits and charges what the kernel buffers for it.
  func checkInput(_ connection: HTTPConnection) {
    guard connection.client.unreadBytes >= Limits.freeSocketBytes else { return }
    connection.limitInput()
    checkSocket(connection)
  }

  /// A timer: examines the sockets, and applies a limit that has changed meanwhile.
  func audit() {
    hasTimer = false
    for connection in connections.all where connection.charge?.mayBeUnsent == true {
      examine(connection)
    }
    unsent.examine()
    readAt = nil
    publish()
    // Streams stay, but not all of those whose clients do not read.
    let share = currentLimit / Limits.stalledShare
    if stalled > share { takeover?.hub.limitStalled(to: share / Limits.stalledStreamBytes) }
    if !unsent.isEmpty { planAudit() }
    if connections.open >= Limits.auditedConnections { planAudit() }
    settle(for: nil)
  }

  private func planAudit() {
    guard !hasTimer else { return }
    hasTimer = true
    context.timers.set(.memory, at: context.now.advanced(by: Limits.memoryAudit))
  }

  // MARK: - The limit

  /// The limit; what is guaranteed is available without a question.
  private var currentLimit: Int { total > context.guaranteedMemory ? readLimit() : limit }

  /// The limit, which is read again if it was not for some time.
  func readLimit() -> Int {
    if let readAt, context.now < readAt.advanced(by: Limits.memoryReading) { return limit }
    readAt = context.now
    limit = max(context.guaranteedMemory, context.availableMemory)
    context.counters.memoryLimit.store(limit, ordering: .relaxed)
    return limit
  }

  /// Ends connections while all together exceed the limit.
  private func settle(for connection: HTTPConnection?) {
    guard total > context.guaranteedMemory else { return }
    planAudit()
    let limit = currentLimit
    guard total > limit else { return }
    for connection in connections.all where connection.charge?.socket ?? 0 > 0 { examine(connection) }
    unsent.examine()
    guard total > limit else { return }
    unsent.discard(total - limit)
    guard total > limit else { return }
    // Many at a time, so that a flood of connections does not cost a search for each.
    let excess = total - limit + limit / Limits.displacedShare
    let chosen = ConnectionDisplacement.choose(
      candidates(except: connection, weight: \.total), excess: excess,
      protecting: limit / Limits.protectedShare)
    chosen.forEach(end)
  }
}
