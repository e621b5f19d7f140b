internal import CCurl
internal import EventLoop
internal import Glibc
internal import ReachabilityModel

/// One request and its response over an established connection, and then another one.
///
/// It is used again, because to make a handle of libcurl and to set its options is a large part of a check.
///
/// libcurl neither resolves nor connects: it receives the connected socket once. Before it sends the request,
/// ``HTTPExchange`` verifies the certificate.
@safe final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
  /// The exchange and the group, from the start to the end.
  private(set) var exchange: HTTPExchange?
  private var group: CurlGroup?
  private var started = MonotonicInstant.now
  /// Whether the request has options that most requests do not have.
  var hasOwnOptions = false
  /// Whether the transfer is complete, without an error.
  var hasSucceeded = false
  /// libcurl's description of its last error.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Makes a transfer that has not started; nil if libcurl has no memory for it.
  init?() {
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    guard let new = unsafe curl_easy_init() else {
      unsafe errorText.deallocate()
      return nil
    }
    unsafe handle = new
    guard setCommonOptions() else { return nil }
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    freeLists()
    unsafe errorText.deallocate()
  }

  /// Makes it ready for another request, when it has ended; false if it cannot be used again.
  func clear() -> Bool {
    let isClean = hasSucceeded && !hasOwnOptions
    if !isClean { unsafe curl_easy_reset(handle) }
    freeLists()
    hasSucceeded = false
    unsafe errorText[0] = 0
    return isClean || setCommonOptions()
  }

  private func freeLists() {
    unsafe lists.forEach { unsafe curl_slist_free_all($0) }
    unsafe lists.removeAll(keepingCapacity: true)
  }

  /// Starts the transfer; false if libcurl returns an error.
  func start(_ exchange: HTTPExchange, in group: CurlGroup) -> Bool {
    self.exchange = exchange
    self.group = group
    started = .now
    limitTime()
    return unsafe group.start(handle)
  }

  /// Limits the time in which libcurl itself waits, from the start; the loop ends the check before.
  func limitTime() {
    guard let exchange else { return }
    let limit = started.duration(to: exchange.check.deadline) + Limits.transferTimeMargin
    let milliseconds = max(1, limit.wholeNanoseconds / 1_000_000)
    unsafe ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(milliseconds))
    unsafe ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds))
  }

  /// Ends a transfer that was started, and its connection over a socket.
  func end(_ descriptor: Int32) {
    unsafe group?.end(handle, of: descriptor)
    group = nil
    exchange = nil
  }

  /// Sets the options that all requests have; false if libcurl rejects one.
  private func setCommonOptions() -> Bool {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    return [
      unsafe ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      unsafe ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      unsafe ccurl_set_string(handle, CURLOPT_PROXY, ""),
      unsafe ccurl_set_string(handle, CURLOPT_NOPROXY, "*"),
      unsafe ccurl_set_long(handle, CURLOPT_NETRC, 0),
      unsafe ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
      unsafe ccurl_set_long(handle, CURLOPT_PATH_AS_IS, 1),
      unsafe ccurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1),
      unsafe ccurl_set_long(handle, CURLOPT_FORBID_REUSE, 1),
      unsafe ccurl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0),
      // The exchange verifies the certificate before the request, because libcurl reports no details of a certificate
      // that it refuses. libcurl would also read the authorities for each connection, some 30 ms on this thread, unless
      // their paths are nil.
      unsafe ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0),
      unsafe ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0),
      unsafe ccurl_set_string(handle, CURLOPT_CAINFO, nil),
      unsafe ccurl_set_string(handle, CURLOPT_CAPATH, nil),
      unsafe ccurl_set_debug_callback(handle, curlDebugCallback),
      unsafe ccurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
      unsafe ccurl_set_string(handle, CURLOPT_USERAGENT, "reachd"),
      // The mapped addresses must not be cached: at the end of each transfer libcurl scans its whole cache.
      unsafe ccurl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, context),
      unsafe ccurl_set_open_socket_callback(handle, curlOpenSocketCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context),
      unsafe ccurl_set_socket_option_callback(handle, curlSocketOptionCallback),
      unsafe ccurl_set_close_socket_callback(handle, curlCloseSocketCallback),
      unsafe ccurl_set_request_callback(handle, curlPrerequestCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context),
      unsafe ccurl_set_write_callback(handle, curlWriteCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context),
      unsafe ccurl_set_header_callback(handle, curlHeaderCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context),
    ].allSatisfy { $0 == CURLE_OK }
  }

  /// Sets the options of a request; false if libcurl rejects one.
  func prepare(
    _ curlTarget: CurlTarget, _ peer: SocketPeer, _ request: HTTPProbeRequest, _ fields: [HTTPOptions.Field]
  ) -> Bool {
    let address = peer.address.unmapped
    // Maps every host and port of the URL to this address, unless it is the URL's, so that libcurl resolves nothing. It does
    // not connect to the address, because it receives a connected socket.
    let isLiteral = curlTarget.url.host == ReachabilityTarget(.address(address))
    let place = isLiteral ? [] : ["::\(address.family == .ipv4 ? "\(address)" : "[\(address)]"):\(peer.port)"]
    return [
      unsafe ccurl_set_string(handle, CURLOPT_URL, curlTarget.url.description),
      // For the callback, which limits what the server's part of the handshake costs.
      unsafe ccurl_set_long(handle, CURLOPT_VERBOSE, curlTarget.url.scheme == .https ? 1 : 0),
      unsafe ccurl_set_list(handle, CURLOPT_CONNECT_TO, list(place)),
      unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list(Self.lines(request, fields, curlTarget))),
    ].allSatisfy { $0 == CURLE_OK }
  }

  private func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { unsafe list = curl_slist_append(list, line) }
    if let list = unsafe list { unsafe lists.append(list) }
    return unsafe list
  }

  /// The TLS session of the connection; nil without TLS.
  var session: OpaquePointer? { unsafe ccurl_tls_session(handle).map { OpaquePointer($0) } }

  /// libcurl's description of the error that ended the transfer; empty without one.
  var errorMessage: String { unsafe String(cString: errorText) }

  var status: Int {
    var status = 0
    unsafe ccurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    return status
  }

  var version: String {
    var version = 0
    unsafe ccurl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
    return switch version {
    case Int(CURL_HTTP_VERSION_1_0): "1.0"
    case Int(CURL_HTTP_VERSION_1_1): "1.1"
    case Int(CURL_HTTP_VERSION_2_0): "2"
    default: ""
    }
  }

  /// The length of the body in bytes, from the response header; nil if the header does not contain it.
  var contentLength: Int? {
    var length: curl_off_t = -1
    guard unsafe ccurl_get_large(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) == CURLE_OK, length >= 0
    else { return nil }
    return length
  }

  /// The time from the start of the transfer to the end of a phase; nil if the phase was not reached.
  func moment(_ key: CURLINFO) -> Duration? {
    var microseconds: curl_off_t = 0
    guard unsafe ccurl_get_large(handle, key, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
    return .microseconds(microseconds)
  }
}
