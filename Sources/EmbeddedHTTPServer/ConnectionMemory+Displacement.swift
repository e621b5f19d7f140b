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
    except exempt: HTTPConnection?, weight: (HTTPConnection) -> Int
  ) -> [ConnectionDisplacement.Candidate] {
    connections.all.compactMap { connection in
      guard connection !== exempt, let role = connection.displacementRole else { return nil }
      return ConnectionDisplacement.Candidate(
        token: connection.token, since: connection.since, role: role, weight: weight(connection))
    }
  }

  func end(_ candidate: ConnectionDisplacement.Candidate) {
    guard let connection = connections[candidate.token] else { return }
    context.counters.displaced.increment()
    switch candidate.role {
    case .unfinished: endUnfinished(connection)
    case .waiting: endWait(connection)
    }
    release(all: connection)
    connections.displaced(connection)
  }

  private func endUnfinished(_ connection: HTTPConnection) {
    if connection.hasRequestLine, !connection.hasHead || connection.awaitsBody {
      direct.refuseDirectly(connection, .displaced)
      connection.request?.body = []
    }
    if connection.stream != nil {
      HTTPConnection.discardUnsent(connection.descriptor)
      connection.ending = .gone
      connection.shutDownConnection()
      // libmicrohttpd does not see the end of a suspended connection.
      return connection.resume()
    }
    // While the client sends, libmicrohttpd is called with its bytes and closes the connection; a close of both sides would
    // reset it before the client has the response.
    if connection.isAborted, connection.hasUnread { return }
    // The kernel would keep a response that the client does not read.
    if connection.charge.socket > 0 || connection.isAnswered {
      HTTPConnection.discardUnsent(connection.descriptor)
    }
    // libmicrohttpd frees the memory of a connection that is closed on both sides.
    connection.shutDownConnection()
  }

  /// Ends a long poll as its timeout does; the connection is closed after the response.
  private func endWait(_ connection: HTTPConnection) {
    guard let wait = connection.deferral?.wait else { return }
    guard connection.charge.socket == 0 else {
      // A client that does not read its earlier responses would keep the connection open.
      HTTPConnection.discardUnsent(connection.descriptor)
      connection.ending = .gone
      return connection.resume()
    }
    var response = wait.expired()
    response.headers["Connection"] = "close"
    deferred.deliver(response, connection: connection.token, request: connection.requestNumber)
  }
}

extension HTTPConnection {
  /// What the connection does, if it may be ended for that; nil for one that is being served.
  fileprivate var displacementRole: ConnectionDisplacement.Role? {
    if isDisplaced || ending == .gone || ending == .takenOver { return nil }
    switch phase {
    case .idle, .head: return .unfinished
    case .body: return awaitsBody ? .unfinished : nil
    // A response that the client does not read.
    case .answered: return charge.exchange + charge.socket > 0 ? .unfinished : nil
    case .deferred(let deferral): return deferral.wait != nil && deferral.reply == nil ? .waiting : nil
    // A stream stays if its client reads.
    case .streaming: return charge.socket > 0 ? .unfinished : nil
    }
  }
}
