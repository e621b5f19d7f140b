internal import CMicroHTTPD
internal import Locks

/// One encoded answer, status 200, that any number of connections send without copying it.
///
/// libmicrohttpd counts references to a response, so that a newer one may take its place while connections still send
/// this one.
public final class SharedBody: Sendable {
  /// The header fields, fixed.
  public let headers: HTTPHeaders
  /// The body, fixed.
  public let bytes: [UInt8]

  private let made = Locked<[String: ResponseHandle]>([:])

  /// An answer of these headers and bytes.
  public init(headers: HTTPHeaders, bytes: [UInt8]) {
    self.headers = headers
    self.bytes = bytes
  }

  /// The library's response, made on first use; nil when memory is out.
  ///
  /// With `strictTransport` it is one of its own, so that a document that is served over TLS, too, needs no copy a request
  /// there either.
  func response(strictTransport: String? = nil) -> ResponseHandle? {
    made.withLock { made in
      let key = strictTransport ?? ""
      if let made = made[key] { return made }
      var headers = headers
      if let strictTransport { headers["Strict-Transport-Security"] = strictTransport }
      made[key] = ResponseHandle(bytes: bytes, headers: headers)
      return made[key]
    }
  }
}

/// Owns one reference to a libmicrohttpd response.
///
/// Sendable: the library guards the reference count with a mutex of its own, and nothing else changes after init.
@safe final class ResponseHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  /// A response of bytes, copied once.
  init?(bytes: [UInt8], headers: HTTPHeaders) {
    let made = unsafe bytes.withUnsafeBytes { buffer in
      // The library only reads the buffer: it copies it. A nil base is fine for no bytes.
      unsafe MHD_create_response_from_buffer(
        buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return nil }
    unsafe pointer = made
    add(headers)
  }

  /// A response that asks `reader` for its bytes; `context` is given to `reader` and, at the end, to `free`.
  init?(
    blockSize: Int, headers: HTTPHeaders, reader: MHD_ContentReaderCallback?, context: UnsafeMutableRawPointer?,
    free: MHD_ContentReaderFreeCallback?
  ) {
    let made = unsafe MHD_create_response_from_callback(.max, blockSize, reader, context, free)
    guard let made = unsafe made else { return nil }
    unsafe pointer = made
    add(headers)
  }

  /// Makes the response one without chunks that ends by closing.
  func closeAfter() {
    _ = unsafe CMicroHTTPD_close_after(pointer)
  }

  private func add(_ headers: HTTPHeaders) {
    for field in headers.fields {
      // The library refuses what it makes itself (Content-Length) and what cannot be a field; both are left out.
      _ = unsafe MHD_add_response_header(pointer, field.name, field.value)
    }
  }

  deinit {
    unsafe MHD_destroy_response(pointer)
  }
}
