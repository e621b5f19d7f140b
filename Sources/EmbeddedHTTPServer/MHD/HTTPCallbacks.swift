internal import CMicroHTTPD
internal import Glibc

// The functions that libmicrohttpd calls; only these convert its pointers to values. All run on the server's thread.

/// Calls `body` with the loop, and the connection that a callback received.
///
/// No reference is counted: the library's socket context has one of the connection until the close, and the loop outlives
/// its daemon.
private func withConnection<Result>(
  _ loop: UnsafeMutableRawPointer, _ pointer: UnsafeMutableRawPointer,
  _ body: (HTTPServerLoop, HTTPConnection) -> Result
) -> Result {
  unsafe Unmanaged<HTTPServerLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { loop in
    loop.context.hadActivity = true
    return unsafe Unmanaged<HTTPConnection>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body(loop, $0) }
  }
}

/// A connection was accepted, or is about to be closed.
func httpConnection(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
  _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
  guard let context = unsafe context, let handle = unsafe handle, let socketContext = unsafe socketContext else {
    return
  }
  let loop = unsafe Unmanaged<HTTPServerLoop>.fromOpaque(context).takeUnretainedValue()
  switch event {
  case .CONNECTION_NOTIFY_STARTED:
    let connection = unsafe loop.accepted(MHDConnection(handle))
    unsafe socketContext.pointee = Unmanaged.passRetained(connection).toOpaque()
  case .CONNECTION_NOTIFY_CLOSED:
    guard let pointer = unsafe socketContext.pointee else { return }
    unsafe socketContext.pointee = nil
    let connection = unsafe Unmanaged<HTTPConnection>.fromOpaque(pointer).takeRetainedValue()
    loop.closed(connection)
  }
}

/// A request line is complete; the other callbacks of the request receive the return value.
func httpTarget(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context, let handle = unsafe handle,
    let pointer = unsafe CMicroHTTPD_socket_context(handle)
  else { return nil }
  unsafe withConnection(context, pointer) { loop, connection in
    loop.requests.lineReceived(connection, target: unsafe target.map { unsafe String(cString: $0) } ?? "")
  }
  return unsafe pointer
}

/// A head is complete, part of a body was received, or the request is complete.
func httpRequest(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?, _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context = unsafe context, let handle = unsafe handle, let pointer = unsafe requestContext?.pointee,
    let method = unsafe method, let version = unsafe version, let url = unsafe url, let uploadSize = unsafe uploadSize
  else { return .NO }
  return unsafe withConnection(context, pointer) { loop, connection in
    if !connection.phase.hasHead {
      let bytes = unsafe UnsafeRawBufferPointer(start: method, count: CMicroHTTPD_header_size(handle))
      let goesOn = unsafe loop.requests.headReceived(connection, bytes) {
        let read = unsafe MHDHeadReader.read(
          handle, method, url, version, targetLength: connection.current.target.utf8.count)
        return unsafe RequestHead(
          method: String(cString: method), version: String(cString: version), headers: read.headers,
          isWellFormed: read.isWellFormed)
      }
      return goesOn ? .YES : .NO
    }
    let size = unsafe uploadSize.pointee
    guard size > 0, let upload = unsafe upload else { return loop.requests.requestReceived(connection) ? .YES : .NO }
    let goesOn = unsafe loop.requests.bodyReceived(connection, UnsafeRawBufferPointer(start: upload, count: size))
    unsafe uploadSize.pointee = 0
    return goesOn ? .YES : .NO
  }
}

/// A request has ended: it was answered, refused or aborted.
func httpCompleted(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
  _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let context = unsafe context, let pointer = unsafe requestContext?.pointee else { return }
  unsafe withConnection(context, pointer) { loop, connection in loop.requests.requestCompleted(connection) }
}

/// Keeps percent sequences: a path decoded in place could contain a NUL or a slash that was not a separator.
func httpUnescape(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
  unsafe text.map { unsafe strlen($0) } ?? 0
}

/// libmicrohttpd reports a message, mostly that it refuses a request.
///
/// Whether the arguments are optional depends on the processor: on some, C's type for them is a pointer.
func httpLogCallback(_ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?)
{
  guard let context = unsafe context, let format = unsafe format, let arguments = unsafe arguments else { return }
  let diagnostic = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Limits.diagnostic) { text in
    guard let start = text.baseAddress else { return "" }
    _ = unsafe vsnprintf(start, text.count, format, arguments)
    return unsafe String(cString: start)
  }
  unsafe Unmanaged<HTTPServerLoop>.fromOpaque(context).takeUnretainedValue().errors.libraryLogged(diagnostic)
}

/// libmicrohttpd requests the next bytes of a stream.
func httpStreamBytes(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return httpStreamBroken }
  let reader = unsafe Unmanaged<MHDResponseReader>.fromOpaque(context).takeUnretainedValue()
  return switch unsafe reader.read(UnsafeMutableRawBufferPointer(start: buffer, count: size)) {
  case .bytes(let count): count
  case .nothing: 0
  case .end: httpStreamEnd
  case .broken: httpStreamBroken
  }
}

/// A stream's response is destroyed.
func httpStreamFree(_ context: UnsafeMutableRawPointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<MHDResponseReader>.fromOpaque(context).release()
}

/// The body of a response to HEAD; libmicrohttpd never requests it, and would receive its end.
func httpNoBody(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
  httpStreamEnd
}

// MHD_CONTENT_READER_END_OF_STREAM and MHD_CONTENT_READER_END_WITH_ERROR are casts, which Swift does not import.
private let httpStreamEnd = -1
private let httpStreamBroken = -2
