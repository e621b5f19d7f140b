internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Connections as such: accepted, out of time, gone, closed.
extension ServerLoop {
  func accepted(handle: OpaquePointer, descriptor: Int32) -> Connection {
    lastToken += 1
    let connection = unsafe Connection(token: lastToken, handle: handle, descriptor: descriptor, loop: self)
    connections[lastToken] = connection
    awaitingFirstRequest += 1
    counters.accepted.increment()
    counters.connections.increment()
    acquireAddressSlot(connection)
    // Streams that were taken over count here and not with libmicrohttpd, which would go on to accept for want of a limit.
    let open = counters.connections.load(ordering: .relaxed)
    connection.exceedsConnectionLimit = open > connectionLimit
    if open > connectionLimit + Limits.overload {
      rejectConnection(connection)
      return connection
    }
    setRequestDeadline(
      connection, now + (connection.exceedsAddressLimit ? Limits.linger.nanoseconds : spans.requestHead))
    return connection
  }

  func closed(_ connection: Connection) {
    connections[connection.token] = nil
    if !connection.hasReceivedRequest { awaitingFirstRequest -= 1 }
    connection.awaitsBody = false
    headEnded(connection)
    if latestHead === connection { latestHead = nil }
    if latestAnswer === connection { latestAnswer = nil }
    unwatch(connection)
    // The hub counts it on.
    if connection.isTakenOver { return }
    counters.connections.decrement()
    releaseAddressSlot(connection.slotAddress)
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
    if connection.hasRequestLine { refuseDirectly(connection, .tooSlow) } else { shutDownConnection(connection) }
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

  private func acquireAddressSlot(_ connection: Connection) {
    // Clients of a Unix-domain socket have no addresses to tell them apart by.
    guard let limit = configuration.connectionsPerAddress, !isUnixListener else { return }
    let address = peerHost(of: connection)
    connection.slotAddress = address
    connectionsByAddress[address, default: 0] += 1
    connection.exceedsAddressLimit = connectionsByAddress[address, default: 0] > limit
  }

  func releaseAddressSlot(_ address: String?) {
    guard let address, let count = connectionsByAddress[address] else { return }
    connectionsByAddress[address] = count > 1 ? count - 1 : nil
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

  // MARK: Closing by halves

  /// Keeps reading after a refusal (RFC 9112, section 9.6): closing over unread bytes resets the connection, and the
  /// reset may destroy the answer before the client has read it.
  private func linger(_ connection: Connection) {
    var unread: Int32 = 0
    if !connection.lingers { _ = unsafe CMicroHTTPD_unread(connection.descriptor, &unread) }
    guard connection.lingers || unread > 0, !connection.isDisconnected, !isStopping, lingering.count < Limits.lingering
    else {
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
