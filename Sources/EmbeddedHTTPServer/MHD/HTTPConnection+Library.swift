internal import CGnuTLS
internal import CMicroHTTPD
internal import EventLoop
internal import Glibc

/// The connection's handle and socket: everything that needs libmicrohttpd or is written past it.
extension HTTPConnection {
  // MARK: - Suspension

  /// Takes the connection out of libmicrohttpd's epoll set until ``resume()``.
  func suspend() {
    guard !isSuspended else { return }
    isSuspended = true
    unsafe MHD_suspend_connection(handle)
    // Only the loop's own poller sees the client of a suspended connection close it, or send more.
    guard !isWatched else { return }
    let events: Poller.Events = [.readable, .peerClosed, .edgeTriggered]
    isWatched = (try? loop.context.poller.add(descriptor, events, token: token)) != nil
  }

  /// Returns the connection to libmicrohttpd.
  func resume() {
    guard isSuspended else { return }
    isSuspended = false
    if isInputLimited { restoreInput() }
    unsafe MHD_resume_connection(handle)
  }

  /// Removes the socket from the loop's own poller.
  func unwatch() {
    guard isWatched else { return }
    isWatched = false
    loop.context.poller.remove(descriptor)
  }

  /// Makes libmicrohttpd handle a connection whose stream ends in its next turn.
  ///
  /// 0.9.75 closes such a connection and does not clean it up until it is the oldest of all that share the default
  /// timeout. Connections with a timeout of their own are handled in every turn.
  func keepPolled() {
    loop.context.needsTurn = true
    guard !isPolledByLibrary else { return }
    isPolledByLibrary = true
    unsafe CMicroHTTPD_set_timeout(handle, loop.context.inactivitySeconds + 1)
  }

  /// Ends what ``keepPolled()`` began, when the connection continues after its stream.
  func stopPolling() {
    guard isPolledByLibrary else { return }
    isPolledByLibrary = false
    unsafe CMicroHTTPD_set_timeout(handle, loop.context.inactivitySeconds)
  }

  // MARK: - Responses

  /// Gives libmicrohttpd the response to the current request.
  func queue(status: Int, _ response: MHDResponse) -> Bool {
    unsafe MHD_queue_response(handle, UInt32(clamping: status), response.pointer) == .YES
  }

  /// Writes bytes to the socket while libmicrohttpd has nothing to send.
  ///
  /// They fit into the buffer of every socket; a client that has filled it with unread bytes gets nothing more.
  ///
  /// - Returns: the number of bytes that the socket took; negative for an error.
  @discardableResult
  func sendDirectly(_ bytes: [UInt8]) -> Int {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    return unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
  }

  /// Writes the last bytes of a connection, under TLS through its session, and closes the sending side.
  ///
  /// To be called only while the library has nothing to send, and after the handshake.
  func sendLast(_ bytes: [UInt8]) {
    if let session = unsafe CMicroHTTPD_session(handle) {
      unsafe sendEncrypted(OpaquePointer(session), bytes)
    } else {
      sendDirectly(bytes)
    }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  private func sendEncrypted(_ session: gnutls_session_t, _ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // One record per call.
      let count = unsafe rest.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
    unsafe gnutls_bye(session, GNUTLS_SHUT_WR)
  }

  /// Shuts both directions down: libmicrohttpd finds the socket closed and closes the connection.
  func shutDownConnection() {
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Shuts the sending side down, after what was sent.
  func shutSending() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Shuts the receiving side down.
  func shutReceiving() {
    shutdown(descriptor, Int32(SHUT_RD))
  }

  // MARK: - State of the socket

  /// The connection has no TLS.
  var isPlain: Bool { unsafe CMicroHTTPD_is_plain(handle) != 0 }

  /// The client has closed its sending side, and everything before that was read.
  var hasClosedSide: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
  }

  /// Bytes of the client are in the socket's receive buffer.
  var hasUnread: Bool { unreadBytes > 0 }

  /// The number of bytes in the socket's receive buffer.
  var unreadBytes: Int {
    var unread: Int32 = 0
    _ = unsafe CMicroHTTPD_unread(descriptor, &unread)
    return Int(unread)
  }

  /// The number of bytes that were sent and that the client's kernel has not acknowledged.
  var unsentBytes: Int { Self.unsentBytes(of: descriptor) }

  static func unsentBytes(of descriptor: Int32) -> Int {
    var unsent: Int32 = 0
    _ = unsafe CMicroHTTPD_unsent(descriptor, &unsent)
    return Int(unsent)
  }

  /// Makes the close of a socket reset the connection, which discards what was not sent (socket(7), SO_LINGER).
  static func discardUnsent(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Makes the kernel buffer as little as it can of what the client sends, beyond what it has already.
  func limitInput() {
    guard !isInputLimited else { return }
    isInputLimited = true
    ListeningSocket.set(descriptor, SOL_SOCKET, SO_RCVBUF, 0)
  }

  private func restoreInput() {
    isInputLimited = false
    ListeningSocket.set(descriptor, SOL_SOCKET, SO_RCVBUF, Limits.receiveBuffer)
  }

  /// The length of the current request's head.
  var headBytes: Int { unsafe CMicroHTTPD_header_size(handle) }

  // MARK: - Client

  /// The address and port of the client; its user for a Unix-domain socket.
  var peer: String {
    if let cachedPeer { return cachedPeer }
    let peer: String
    if loop.context.isUnixListener {
      peer = "unix:\(CMicroHTTPD_peer_user(descriptor))"
    } else {
      peer = peerAddress.map { ListenAddress(host: $0.host, port: $0.port).description } ?? "unknown"
    }
    cachedPeer = peer
    return peer
  }

  /// The address of the client.
  var peerHost: String { peerAddress?.host ?? "unknown" }

  private var peerAddress: ListenSocketAddress? {
    unsafe CMicroHTTPD_client_address(handle).flatMap { unsafe ListenSocketAddress(reading: $0) }
  }
}
