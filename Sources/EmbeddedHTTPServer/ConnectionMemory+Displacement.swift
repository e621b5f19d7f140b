internal import EventStreams

// The end of connections that make room for others.
extension ConnectionMemory {
  /// Connections that are ended at a time when their number is the limit.
  var batch: Int { max(1, context.connectionLimit / Limits.displacedShare) }

  /// A request needs a place among the connections: ends the connection that needs its place the least.
  func makeRoom(for connection: HTTPConnection) {
    let excess = connections.open - context.connectionLimit
    if excess > 0 { displace(connections: excess, for: connection) }
  }

  func displace(connections count: Int, for connection: HTTPConnection) {
    let chosen = ConnectionDisplacement.choose(
      candidates(except: connection) { _ in 1 }, excess: count,
      protecting: context.connectionLimit / Limits.protectedShare)
    chosen.forEach(end)
  }

  func candidates(
    except exempt: HTTPConnection?, weight: (ConnectionCharge) -> Int
  ) -> [ConnectionDisplacement.Candidate] {
    connections.all.compactMap { connection in
      guard connection !== exempt, !connection.isDisconnected, !connection.isTakenOver, let charge = connection.charge,
        let role = ConnectionDisplacement.role(in: connection.phase, charge)
      else { return nil }
      return ConnectionDisplacement.Candidate(
        token: connection.token, since: charge.since, role: role, weight: weight(charge))
    }
  }

  func end(_ candidate: ConnectionDisplacement.Candidate) {
    guard let connection = connections[candidate.token], connection.charge != nil else { return }
    context.counters.displaced.increment()
    switch candidate.role {
    case .unfinished: endUnfinished(connection)
    case .waiting: endWait(connection)
    }
    release(all: connection)
    connections.displaced()
  }

  private func endUnfinished(_ connection: HTTPConnection) {
    switch connection.phase {
    case .head, .body:
      direct.refuseDirectly(connection, .displaced)
      connection.current.request?.body = []
    case .streaming:
      connection.client.discardUnsent()
      connection.end(.gone)
      connection.client.shutDown()
      // libmicrohttpd does not see the end of a suspended connection.
      return connection.resume()
    default: break
    }
    // While the client sends, libmicrohttpd is called with its bytes and closes the connection; a close of both sides would
    // reset it before the client has the response.
    if connection.isAborted, connection.client.unreadBytes > 0 { return }
    // The kernel would keep a response that the client does not read.
    if connection.phase.isAnswered || connection.charge?.socket ?? 0 > 0 { connection.client.discardUnsent() }
    // libmicrohttpd frees the memory of a connection that is closed on both sides.
    connection.client.shutDown()
  }

  /// Ends a long poll as its timeout does; the connection is closed after the response.
  private func endWait(_ connection: HTTPConnection) {
    guard let wait = connection.phase.deferral?.wait else { return }
    guard connection.charge?.socket == 0 else {
      // A client that does not read its earlier responses would keep the connection open.
      connection.client.discardUnsent()
      connection.end(.gone)
      return connection.resume()
    }
    var response = wait.expired()
    response.headers["Connection"] = "close"
    deferred.deliver(response, connection: connection.token, request: connection.current.number)
  }
}
