internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Connections as such: accepted, out of time, gone, closed.
extension ServerLoop {
  func accepted(handle: OpaquePointer, descriptor: Int32) -> Connection {
    lastToken += 1
    let connection = unsafe Connection(token: lastToken, handle: handle, descriptor: descriptor, loop: self)
    connections[lastToken] = connection
    unheard += 1
    counters.accepted.increment()
    counters.connections.increment()
    joinCrowd(connection)
    // Streams that were taken over count here and not with libmicrohttpd, which would go on to accept for want of a limit.
    if counters.connections.load(ordering: .relaxed) > connectionLimit + Limits.overload {
      turnAway(connection)
      return connection
    }
    setRequestDeadline(connection, now + (connection.isExcess ? Limits.linger.nanoseconds : spans.requestHead))
    return connection
  }

  func closed(_ connection: Connection) {
    connections[connection.token] = nil
    if !connection.wasHeard { unheard -= 1 }
    headEnded(connection)
    if latestHead === connection { latestHead = nil }
    unwatch(connection)
    // The hub counts it on.
    if connection.isTakenOver { return }
    counters.connections.decrement()
    leaveCrowd(connection.crowd)
    linger(connection)
  }

  // MARK: Time for a request

  /// Sets when the current request must be complete; nil for "the server is to act".
  func setRequestDeadline(_ connection: Connection, _ deadline: UInt64?) {
    connection.requestDeadline = deadline
    // One entry a connection, however many requests: it looks again when it is due.
    guard let deadline, !connection.hasRequestTimer else { return }
    connection.hasRequestTimer = true
    plan(deadline, .request, token: connection.token)
  }

  func checkRequestDeadline(token: UInt64) {
    guard let connection = connections[token] else { return }
    connection.hasRequestTimer = false
    guard let deadline = connection.requestDeadline else { return }
    guard deadline <= now else {
      setRequestDeadline(connection, deadline)
      return
    }
    counters.expired.increment()
    connection.requestDeadline = nil
    // Who has not even sent a line has asked for nothing: browsers keep such connections in reserve.
    if connection.hasLine { refuseDirectly(connection, .tooSlow) } else { hangUp(connection) }
  }

  // MARK: Who the client is

  /// Address and port of the client.
  func peer(of connection: Connection) -> String {
    if let peer = connection.peer { return peer }
    if isUnixListener {
      let peer = "unix:\(CMicroHTTPD_peer_user(connection.descriptor))"
      connection.peer = peer
      return peer
    }
    let peer = peerAddress(of: connection).map { ListenAddress(host: $0.host, port: $0.port).description } ?? "unknown"
    connection.peer = peer
    return peer
  }

  /// Address of the client.
  private func peerHost(of connection: Connection) -> String {
    peerAddress(of: connection)?.host ?? "unknown"
  }

  private func peerAddress(of connection: Connection) -> SocketAddress? {
    unsafe CMicroHTTPD_client_address(connection.handle).flatMap { unsafe SocketAddress(reading: $0) }
  }

  private func joinCrowd(_ connection: Connection) {
    guard let limit = configuration.connectionsPerAddress else { return }
    let address = peerHost(of: connection)
    connection.crowd = address
    crowds[address, default: 0] += 1
    connection.isExcess = crowds[address, default: 0] > limit
  }

  func leaveCrowd(_ address: String?) {
    guard let address, let count = crowds[address] else { return }
    crowds[address] = count > 1 ? count - 1 : nil
  }

  // MARK: Suspension

  func suspend(_ connection: Connection) {
    guard !connection.isSuspended else { return }
    connection.isSuspended = true
    unsafe MHD_suspend_connection(connection.handle)
    // A suspended connection is in no epoll set of the library's: only we can see its client leave.
    if !connection.isWatched {
      connection.isWatched = watch(
        connection.descriptor, EPOLLRDHUP.rawValue | EPOLLET.rawValue, token: connection.token)
    }
  }

  func resume(_ connection: Connection) {
    guard connection.isSuspended else { return }
    connection.isSuspended = false
    unsafe MHD_resume_connection(connection.handle)
  }

  func unwatch(_ connection: Connection) {
    guard connection.isWatched else { return }
    connection.isWatched = false
    unwatch(connection.descriptor)
  }

  /// The kernel tells of a client that we owe bytes: it is gone, or has closed its side.
  func clientMoved(_ connection: Connection, _ events: UInt32) {
    guard connection.phase == .streaming || connection.phase == .deferred, !connection.isGone else { return }
    if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) == 0, mayStillRead(connection) { return }
    clientLeft(connection)
  }

  /// Whether a client that has closed its side may be there for what it asked for, as `nc -N` and `socat -` are.
  ///
  /// One that is gone for good looks the same (tcp(7)) until it is sent something, which its kernel answers with a reset.
  /// A stream without an end ends at once: who has said that it will say no more is told no more.
  private func mayStillRead(_ connection: Connection) -> Bool {
    // Under TLS the library would have to say it, and nobody closes a side without closing the session.
    guard unsafe CMicroHTTPD_is_plain(connection.handle) != 0 else { return false }
    if connection.phase == .streaming, connection.stream?.stream.endsAfter == nil { return false }
    // Between sockets of one machine the kernel tells one from the other (unix(7)).
    if isUnixListener { return true }
    // HTTP/1.0 knows no interim answers to sound with. An answer is waited for, news are not: they may take ten minutes.
    if connection.phase == .deferred, connection.request?.version != "HTTP/1.1" { return connection.wait == nil }
    let deadline = MonotonicClock.now + Limits.halfClosed.nanoseconds
    connection.halfClosedDeadline = deadline
    plan(deadline, .halfClosed, token: connection.token)
    return true
  }

  /// Sends a client that has closed its side what cannot harm (RFC 9110, section 15.2), so that its kernel answers with a
  /// reset if it is gone.
  func sound(_ connection: Connection) {
    if connection.phase == .streaming {
      beat(connection)
    } else if connection.awaitsReply {
      sendDirectly(connection, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
  }

  private func clientLeft(_ connection: Connection) {
    connection.isGone = true
    if connection.phase == .streaming { counters.streamsGone.increment() }
    if connection.isSuspended {
      endChunks(connection)
      resume(connection)
    } else {
      hangUp(connection)
    }
  }

  /// Sends a stream's last chunk to a client that closed its side only and still reads.
  ///
  /// libmicrohttpd takes the client's end for the connection's. A suspended stream has nothing half sent.
  private func endChunks(_ connection: Connection) {
    // One that has an end of its own must not seem to have reached it.
    guard connection.stream?.isChunked == true, connection.stream?.stream.endsAfter == nil,
      unsafe CMicroHTTPD_is_plain(connection.handle) != 0
    else { return }
    sendDirectly(connection, Array("0\r\n\r\n".utf8))
  }

  // MARK: Closing by halves

  /// Keeps reading after a refusal (RFC 9112, section 9.6): closing over unread bytes resets the connection, and the
  /// reset may destroy the answer before the client has read it.
  private func linger(_ connection: Connection) {
    var unread: Int32 = 0
    if !connection.lingers { _ = unsafe CMicroHTTPD_unread(connection.descriptor, &unread) }
    guard connection.lingers || unread > 0, !connection.isGone, !isStopping, lingering.count < Limits.lingering else {
      return
    }
    let descriptor = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    shutdown(descriptor, Int32(SHUT_WR))
    lingering[connection.token] = descriptor
    watch(descriptor, EPOLLIN.rawValue | EPOLLRDHUP.rawValue, token: connection.token)
    plan(now + Limits.linger.nanoseconds, .linger, token: connection.token)
  }

  func drainLingering(token: UInt64, _ descriptor: Int32) {
    // 16 KiB at a time from the stack; a turn reads one piece of each socket.
    let received = unsafe withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
      unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
    if received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR) { endLingering(token: token) }
  }

  func endLingering(token: UInt64) {
    guard let descriptor = lingering.removeValue(forKey: token) else { return }
    unwatch(descriptor)
    close(descriptor)
  }
}
