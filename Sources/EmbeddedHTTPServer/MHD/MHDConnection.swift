internal import CGnuTLS
internal import CMicroHTTPD
internal import Glibc

/// libmicrohttpd's connection and its socket: everything that needs the library or is written past it.
///
/// Valid until the functions of HTTPCallbacks.swift report its close.
@safe struct MHDConnection {
  private let handle: OpaquePointer
  let descriptor: Int32

  init(_ handle: OpaquePointer) {
    unsafe self.handle = handle
    descriptor = unsafe CMicroHTTPD_connection_fd(handle)
  }

  // MARK: - Handling

  /// Takes the connection out of libmicrohttpd's epoll set.
  func suspend() { unsafe MHD_suspend_connection(handle) }

  func resume() { unsafe MHD_resume_connection(handle) }

  /// Gives the connection a timeout of its own, or the default one.
  func setTimeout(seconds: UInt32) { unsafe CMicroHTTPD_set_timeout(handle, seconds) }

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
    if let session = unsafe session {
      unsafe sendEncrypted(session, bytes)
    } else {
      sendDirectly(bytes)
    }
    shutSending()
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
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Shuts the sending side down, after what was sent.
  func shutSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Shuts the receiving side down.
  func shutReceiving() { shutdown(descriptor, Int32(SHUT_RD)) }

  // MARK: - State of the socket

  /// The connection has no TLS.
  var isPlain: Bool { unsafe CMicroHTTPD_is_plain(handle) != 0 }

  /// The client has closed its sending side, and everything before that was read.
  var hasClosedSide: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
  }

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

  /// Makes the close of the socket reset the connection.
  func discardUnsent() { Self.discardUnsent(descriptor) }

  /// Makes the close of a socket reset the connection, which discards what was not sent (socket(7), SO_LINGER).
  static func discardUnsent(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Makes the kernel buffer as little as it can of what the client sends, beyond what it has already.
  func limitInput() { ListeningSocket.set(descriptor, SOL_SOCKET, SO_RCVBUF, 0) }

  /// Ends what ``limitInput()`` began.
  func restoreInput() { ListeningSocket.set(descriptor, SOL_SOCKET, SO_RCVBUF, Limits.receiveBuffer) }

  /// The length of the current request's head.
  var headBytes: Int { unsafe CMicroHTTPD_header_size(handle) }

  /// The header fields of a head that is complete; nil before that.
  ///
  /// Of the connections whose head no handler has received, only one that libmicrohttpd is about to refuse has them.
  var completeFields: HTTPHeaders? { headBytes > 0 ? unsafe MHDHeadReader.fields(handle) : nil }

  // MARK: - Client

  /// The TLS session; nil without TLS.
  var session: gnutls_session_t? { unsafe CMicroHTTPD_session(handle).map(OpaquePointer.init) }

  /// The user's number of a client of a Unix-domain socket.
  var user: String { "\(CMicroHTTPD_peer_user(descriptor))" }

  var address: ListenSocketAddress? {
    unsafe CMicroHTTPD_client_address(handle).flatMap { unsafe ListenSocketAddress(reading: $0) }
  }
}
