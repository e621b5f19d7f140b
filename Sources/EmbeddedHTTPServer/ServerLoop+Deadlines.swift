internal import CMicroHTTPD

/// Deadlines: planned, met, swept.
extension ServerLoop {
  /// Has the loop look at something when its time has come.
  func plan(_ time: UInt64, _ purpose: DeadlineHeap.Purpose, token: UInt64) {
    deadlines.push(time, purpose, token: token)
    if deadlines.needsSweep { deadlines.sweep { isCurrent($0) } }
  }

  /// Whether anybody still wants to hear of a deadline.
  private func isCurrent(_ entry: DeadlineHeap.Entry) -> Bool {
    switch entry.purpose {
    // One a connection, which outlives neither.
    case .request, .cut: connections[entry.token] != nil
    // A later request of the same connection has a later entry of its own; this one must not meet it.
    case .reply: connections[entry.token].map { $0.awaitsReply && $0.replyDeadline == entry.time } ?? false
    case .halfClosed: connections[entry.token].map { $0.halfClosedDeadline == entry.time } ?? false
    case .heartbeat: streaming[entry.token]?.stream?.nextBeat == entry.time
    case .linger: lingering[entry.token] != nil
    case .lastRequests, .finalGrace, .stop: true
    }
  }

  func handle(_ due: DeadlineHeap.Entry) {
    guard isCurrent(due) else { return }
    let connection = connections[due.token]
    switch due.purpose {
    case .request: checkRequestDeadline(token: due.token)
    case .reply: deliver(connection?.wait?.expired(), connection: due.token, request: connection?.requestNumber ?? 0)
    case .halfClosed: if let connection { sendInterimResponse(connection) }
    case .heartbeat: checkHeartbeat(token: due.token)
    case .cut: if let connection { shutDownConnection(connection) }
    case .linger: endLingering(token: due.token)
    // That the loop wakes up is all.
    case .lastRequests: break
    case .finalGrace: expireWaitsBeforeStop()
    case .stop: isStopping = true
    }
  }
}
