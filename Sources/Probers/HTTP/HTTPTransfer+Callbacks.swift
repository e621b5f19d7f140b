internal import CCurl
internal import Glibc

// Callbacks that libcurl calls on the prober's thread, within calls into libcurl.

extension HTTPTransfer {
  /// The transfer that libcurl passes as a context.
  static func of(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
    unsafe context.map { unsafe Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// CURLOPT_OPENSOCKETFUNCTION: returns the connected socket once, and then `CURL_SOCKET_BAD`.
func curlOpenSocketCallback(
  _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  unsafe HTTPTransfer.of(context)?.exchange?.handOver() ?? curl_socket_t(CURL_SOCKET_BAD)
}

/// CURLOPT_SOCKOPTFUNCTION: the socket is already connected.
func curlSocketOptionCallback(
  _ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ purpose: curlsocktype
) -> Int32 { CURL_SOCKOPT_ALREADY_CONNECTED }

/// CURLOPT_CLOSESOCKETFUNCTION.
func curlCloseSocketCallback(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
  if let context = unsafe context {
    unsafe Unmanaged<CurlGroup>.fromOpaque(context).takeUnretainedValue().close(descriptor)
  }
  return 0
}

/// CURLOPT_PREREQFUNCTION: called after the TLS handshake, before the request is sent.
func curlPrerequestCallback(
  _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
  _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
  unsafe HTTPTransfer.of(context)?.exchange?.maySend() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// CURLOPT_DEBUGFUNCTION: libcurl reports its steps; it has no option for GnuTLS's priorities, and no other callback
/// between the creation of a TLS session and its handshake.
func curlDebugCallback(
  _ handle: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int32 {
  if kind == CURLINFO_TEXT, let handle = unsafe handle, let session = unsafe ccurl_tls_session(handle) {
    unsafe TLSPeerLimits.applyBeforeHandshake(to: OpaquePointer(session)) {
      unsafe ccurl_tls_session(handle).map { OpaquePointer($0) }
    }
  }
  return 0
}

/// CURLOPT_WRITEFUNCTION: a part of the body; a returned count other than its length ends the transfer.
func curlWriteCallback(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: total)
  return unsafe HTTPTransfer.of(context)?.exchange?.take(body: buffer) == true ? total : 0
}

/// CURLOPT_HEADERFUNCTION: one header line, including the lines of informational responses (1xx).
func curlHeaderCallback(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: total)
  return unsafe HTTPTransfer.of(context)?.exchange?.take(header: buffer) == true ? total : 0
}
