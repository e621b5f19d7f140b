internal import CMicroHTTPD

/// Supplies the bytes of a response by callback, on the server's thread.
@safe final class MHDResponseReader {
  enum Piece {
    case bytes(Int)
    /// Nothing now; the connection is suspended.
    case nothing
    case end
    case broken
  }

  let read: (UnsafeMutableRawBufferPointer) -> Piece

  init(read: @escaping (UnsafeMutableRawBufferPointer) -> Piece) { unsafe self.read = read }
}

/// Owns one reference to a libmicrohttpd response.
///
/// Sendable: the library protects the reference count with a mutex, and nothing else changes after init.
@safe final class MHDResponse: @unchecked Sendable {
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

  /// A response whose bytes are read when the library can send them.
  convenience init?(headers: HTTPHeaders, reader: MHDResponseReader) {
    let context = unsafe Unmanaged.passRetained(reader)
    unsafe self.init(
      blockSize: Limits.streamBlock, headers: headers, reader: httpStreamBytes, context: context.toOpaque(),
      free: httpStreamFree)
  }

  /// The response to a HEAD request for a stream.
  ///
  /// With chunks, the library would send the `0` of the last chunk. Without, it sends the head and closes.
  convenience init?(headOnly headers: HTTPHeaders) {
    unsafe self.init(blockSize: 1, headers: headers, reader: httpNoBody, context: nil, free: nil)
    _ = unsafe CMicroHTTPD_close_after(pointer)
  }

  /// A response whose bytes `reader` supplies; `context` is passed to `reader` and, at the end, to `free`.
  private init?(
    blockSize: Int, headers: HTTPHeaders, reader: MHD_ContentReaderCallback?, context: UnsafeMutableRawPointer?,
    free: MHD_ContentReaderFreeCallback?
  ) {
    let made = unsafe MHD_create_response_from_callback(.max, blockSize, reader, context, free)
    guard let made = unsafe made else {
      if let context = unsafe context { unsafe free?(context) }
      return nil
    }
    unsafe pointer = made
    add(headers)
  }

  private func add(_ headers: HTTPHeaders) {
    for field in headers.fields {
      // The library rejects the field that it generates itself (Content-Length) and invalid fields; both are omitted.
      _ = unsafe MHD_add_response_header(pointer, field.name, field.value)
    }
  }

  deinit {
    unsafe MHD_destroy_response(pointer)
  }
}
