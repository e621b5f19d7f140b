internal import CMicroHTTPD
internal import Glibc

/// Tests whether this libmicrohttpd releases a socket: once per process, on a pair of connected sockets.
///
/// The library does not document that a copy of its socket stays usable after it has closed its own. A version that
/// shut the connection down instead would end every stream at its first byte.
enum MHDTakeoverSelfTest {
  static let passed = run()

  private static func run() -> Bool {
    var pair: (Int32, Int32) = (-1, -1)
    let made = unsafe withUnsafeMutableBytes(of: &pair) { pair in
      unsafe socketpair(
        AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0,
        pair.assumingMemoryBound(to: Int32.self).baseAddress)
    }
    guard made == 0 else { return false }
    defer { close(pair.0) }
    var copy: Int32 = -1
    defer { if copy >= 0 { close(copy) } }
    let isClosed = unsafe withUnsafeMutablePointer(to: &copy) { copy in unsafe serve(pair, copy) }
    // libmicrohttpd has closed its own socket by now. The client must have received the first bytes, receive the next,
    // and see no end.
    guard isClosed, copy >= 0, read(pair.0) == "first", write(copy, "second"), read(pair.0) == "second" else {
      return false
    }
    return read(pair.0) == nil
  }

  /// Runs a daemon that reads one request from one end, and returns whether it closed that end.
  private static func serve(_ pair: (Int32, Int32), _ copy: UnsafeMutablePointer<Int32>) -> Bool {
    let flags =
      MHD_USE_EPOLL.rawValue | MHD_USE_TURBO.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_USE_NO_LISTEN_SOCKET.rawValue
    guard let daemon = unsafe CMicroHTTPD_start_unbound(flags, takeoverSelfTestRequest, copy) else {
      close(pair.1)
      return false
    }
    defer { unsafe MHD_stop_daemon(daemon) }
    var address = sockaddr()
    address.sa_family = sa_family_t(AF_UNIX)
    // From here on the library owns the other end in every case.
    guard unsafe MHD_add_connection(daemon, pair.1, &address, 2) == .YES,
      write(pair.0, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    else { return false }
    // Three turns are enough: read, close, clean up. Extra turns have no effect.
    for _ in 0..<8 where unsafe MHD_run(daemon) != .YES { return false }
    return unsafe CMicroHTTPD_connections(daemon) == 0
  }

  static func write(_ descriptor: Int32, _ text: String) -> Bool {
    var text = text
    return text.withUTF8 { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      == text.utf8.count
  }

  /// The bytes that were received; nil if there are none, and empty at the end.
  private static func read(_ descriptor: Int32) -> String? {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : unsafe String(decoding: buffer[..<count], as: UTF8.self)
    }
  }
}

/// Handles the request: copies the socket, responds directly, and makes the library close its own socket.
private func takeoverSelfTestRequest(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?, _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let copy = unsafe context?.assumingMemoryBound(to: Int32.self), let handle = unsafe handle,
    let seen = unsafe requestContext
  else { return .NO }
  // Like the server, on the second call, when the request is complete.
  if unsafe seen.pointee == nil {
    unsafe seen.pointee = UnsafeMutableRawPointer(copy)
    return .YES
  }
  unsafe copy.pointee = fcntl(CMicroHTTPD_connection_fd(handle), F_DUPFD_CLOEXEC, 0)
  _ = MHDTakeoverSelfTest.write(unsafe copy.pointee, "first")
  return .NO
}
