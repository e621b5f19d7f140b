internal import CCurl
internal import EventLoop
internal import Glibc
internal import HostResolver
internal import ReachabilityModel

/// One request and its response over an established connection.
///
/// libcurl neither resolves nor connects: it receives the connected socket once. Before it sends the request,
/// ``HTTPExchange`` verifies the certificate.
@safe final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
  private unowned let exchange: HTTPExchange
  private let group: CurlGroup
  private var isStarted = false
  private var curlTarget: CurlTarget?
  private var started = MonotonicInstant.now
  /// libcurl's description of its last error.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(_ handle: UnsafeMutableRawPointer, _ group: CurlGroup, _ exchange: HTTPExchange) {
    unsafe self.handle = handle
    self.group = group
    self.exchange = exchange
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    unsafe lists.forEach { unsafe curl_slist_free_all($0) }
    unsafe errorText.deallocate()
  }

  /// Starts the transfer; false if libcurl returns an error.
  func start() -> Bool {
    isStarted = true
    started = .now
    limitTime()
    return unsafe group.start(handle)
  }

  /// Limits the time in which libcurl itself waits, from the start; the loop ends the check before.
  func limitTime() {
    let limit = started.duration(to: exchange.check.deadline) + Limits.transferTimeMargin
    let milliseconds = max(1, limit.wholeNanoseconds / 1_000_000)
    unsafe ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(milliseconds))
    unsafe ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds))
  }

  /// Ends a transfer that was started, and its connection over a socket.
  func end(_ descriptor: Int32) {
    if isStarted { unsafe group.end(handle, of: descriptor) }
    isStarted = false
  }

  /// Sets all options; false if libcurl rejects one.
  func prepare(
    _ target: CheckTarget, _ peer: SocketPeer, _ request: HTTPProbeRequest, _ fields: [HTTPOptions.Field],
    _ curlTarget: CurlTarget
  ) -> Bool {
    self.curlTarget = curlTarget
    let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
    let keeper = unsafe Unmanaged.passUnretained(group).toOpaque()
    let address = peer.address.unmapped
    // Maps every host and port of the URL to this address, so that libcurl resolves nothing. It does not
    // connect to the address, because it receives a connected socket.
    let place = unsafe list(["::\(address.family == .ipv4 ? "\(address)" : "[\(address)]"):\(peer.port)"])
    var codes = [
      unsafe ccurl_set_string(handle, CURLOPT_URL, curlTarget.url.description),
      unsafe ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, target.scheme.rawValue),
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
      // For the callback, which limits what the server's part of the handshake costs.
      unsafe ccurl_set_long(handle, CURLOPT_VERBOSE, target.scheme == .https ? 1 : 0),
      unsafe ccurl_set_debug_callback(handle, curlDebugCallback),
      unsafe ccurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
      unsafe ccurl_set_string(handle, CURLOPT_USERAGENT, "reachd"),
      unsafe ccurl_set_list(handle, CURLOPT_CONNECT_TO, place),
      // The mapped addresses must not be cached: at the end of each transfer libcurl scans its whole cache.
      unsafe ccurl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, context),
      unsafe ccurl_set_open_socket_callback(handle, curlOpenSocketCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context),
      unsafe ccurl_set_socket_option_callback(handle, curlSocketOptionCallback),
      unsafe ccurl_set_close_socket_callback(handle, curlCloseSocketCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, keeper),
      unsafe ccurl_set_request_callback(handle, curlPrerequestCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context),
      unsafe ccurl_set_write_callback(handle, curlWriteCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context),
      unsafe ccurl_set_header_callback(handle, curlHeaderCallback),
      unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context),
    ]
    codes += set(request, fields, curlTarget)
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
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

  /// The target of a redirect.
  ///
  /// - Parameter location: the text of the `Location` field.
  /// - Returns: the whole URL; nil without a redirect.
  func redirect(_ location: String?) -> CurlTarget.Redirect? {
    guard CurlTarget.redirects.contains(status), let location else { return nil }
    return curlTarget?.redirect(location)
  }

  /// The time from the start of the transfer to the end of a phase; nil if the phase was not reached.
  func moment(_ key: CURLINFO) -> Duration? {
    var microseconds: curl_off_t = 0
    guard unsafe ccurl_get_large(handle, key, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
    return .microseconds(microseconds)
  }
}
