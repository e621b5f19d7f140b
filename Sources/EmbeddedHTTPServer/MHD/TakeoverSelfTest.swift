internal import CMicroHTTPD
internal import Glibc

/// Whether this libmicrohttpd lets a socket go: tried once a process, on a pair of connected sockets.
///
/// No contract of the library's says that a copy of its socket stays usable after it closed its own: a version that shut
/// the connection down instead would end every stream at its first byte.
enum TakeoverSelfTest {
  /// What the try showed.
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
    // Its own socket is closed by now. The client must have the first bytes, get the next, and see no end.
    guard isClosed, copy >= 0, read(pair.0) == "first", write(copy, "second"), read(pair.0) == "second" else {
      return false
    }
    return read(pair.0) == nil
  }

  /// Has a daemon of its own read one request from one end, and tells whether it closed it.
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
    // From here on the other end is the library's, whatever happens.
    guard unsafe MHD_add_connection(daemon, pair.1, &address, 2) == .YES,
      write(pair.0, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    else { return false }
    // Three turns are enough: read, close, clean up. Some more do no harm.
    for _ in 0..<8 where unsafe MHD_run(daemon) != .YES { return false }
    return unsafe CMicroHTTPD_connections(daemon) == 0
  }

  static func write(_ descriptor: Int32, _ text: String) -> Bool {
    var text = text
    return text.withUTF8 { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      == text.utf8.count
  }

  /// What has come; nil when nothing has, and empty at the end.
  private static func read(_ descriptor: Int32) -> String? {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : unsafe String(decoding: buffer[..<count], as: UTF8.self)
    }
  }
}

/// The request has come: copies the socket, answers by itself, and has the library close its own.
private func takeoverSelfTestRequest(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?, _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let copy = unsafe context?.assumingMemoryBound(to: Int32.self), let handle = unsafe handle,
    let seen = unsafe requestContext
  else { return .NO }
  // As the server does it: on the second call, when the request is complete.
  if unsafe seen.pointee == nil {
    unsafe seen.pointee = UnsafeMutableRawPointer(copy)
    return .YES
  }
  unsafe copy.pointee = fcntl(CMicroHTTPD_connection_fd(handle), F_DUPFD_CLOEXEC, 0)
  _ = TakeoverSelfTest.write(unsafe copy.pointee, "first")
  return .NO
}
