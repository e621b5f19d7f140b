internal import CCurl
internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// One request and its answer over a connection that stands: what libcurl is told, and what it tells.
///
/// libcurl resolves nothing and connects to nothing: it is handed the connected socket, once. Before it sends the
/// request, ``HTTPExchange`` looks at the certificate.
@safe final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
  private unowned let exchange: HTTPExchange
  private let group: CurlGroup
  private var isStarted = false

  init(_ handle: UnsafeMutableRawPointer, _ group: CurlGroup, _ exchange: HTTPExchange) {
    unsafe self.handle = handle
    self.group = group
    self.exchange = exchange
  }

  deinit { unsafe lists.forEach { unsafe curl_slist_free_all($0) } }

  /// Begins the transfer; false if libcurl refuses.
  func start() -> Bool {
    isStarted = true
    return unsafe group.start(handle)
  }

  /// Ends the transfer, if it was begun, and its connection.
  func end() {
    if isStarted { unsafe group.end(handle) }
    isStarted = false
  }

  /// Sets everything up; false if libcurl refuses.
  func prepare(_ target: ProbeTarget, _ peer: Peer, _ recipe: HTTPRecipe, isFirst: Bool) -> Bool {
    let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
    let keeper = unsafe Unmanaged.passUnretained(group).toOpaque()
    let address = peer.address.unmapped
    // Any host and port of the URL is at this address: so that nothing is resolved. The socket is ours all the same.
    let place = unsafe list(["::\(address.family == .ipv4 ? "\(address)" : "[\(address)]"):\(peer.port)"])
    var codes = [
      unsafe ccurl_set_string(handle, CURLOPT_URL, target.description),
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
      // We judge the certificate ourselves, before the request: libcurl would tell nothing of one that it refuses, and
      // read the authorities' file for each connection.
      unsafe ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0),
      unsafe ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0),
      unsafe ccurl_set_string(handle, CURLOPT_USERAGENT, "reachd"),
      unsafe ccurl_set_list(handle, CURLOPT_CONNECT_TO, place),
      // The addresses that were "resolved" so need no remembering: at the end of each transfer libcurl walks through all
      // that it remembers.
      unsafe ccurl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, context),
      unsafe ccurl_set_open_socket_callback(handle, curlOpens),
      unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context),
      unsafe ccurl_set_socket_option_callback(handle, curlConnects),
      unsafe ccurl_set_close_socket_callback(handle, curlCloses),
      unsafe ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, keeper),
      unsafe ccurl_set_request_callback(handle, curlRequests),
      unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context),
      unsafe ccurl_set_write_callback(handle, curlReceives),
      unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context),
      unsafe ccurl_set_header_callback(handle, curlReceivesHeader),
      unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context),
    ]
    codes += request(recipe, isFirst: isFirst)
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  /// Method, headers and body; after a redirect none of the caller's: they were meant for the first host.
  private func request(_ recipe: HTTPRecipe, isFirst: Bool) -> [CURLcode] {
    var codes: [CURLcode] = []
    if recipe.method == "HEAD" {
      codes.append(unsafe ccurl_set_long(handle, CURLOPT_NOBODY, 1))
    } else if isFirst {
      if let body = recipe.body {
        codes.append(unsafe ccurl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.utf8.count))
        codes.append(unsafe ccurl_set_string(handle, CURLOPT_COPYPOSTFIELDS, body))
      }
      if recipe.method != "GET" || recipe.body != nil {
        codes.append(unsafe ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, recipe.method))
      }
    }
    // No waiting for 100 Continue, and no media type but the caller's.
    var fields = ["Expect:", "Content-Type:"]
    if isFirst {
      // "Name;" is curl's way to send a header without a value; "Name:" would remove it.
      let own = recipe.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
      fields.removeAll { field in recipe.headers.contains { $0.name.lowercased() + ":" == field.lowercased() } }
      fields += own
    }
    codes.append(unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list(fields)))
    return codes
  }

  private func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { unsafe list = curl_slist_append(list, line) }
    if let list = unsafe list { unsafe lists.append(list) }
    return unsafe list
  }

  /// The TLS session of the connection; nil without TLS.
  var session: gnutls_session_t? { unsafe ccurl_tls_session(handle).map { OpaquePointer($0) } }

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

  /// Where the answer sends us; nil if nowhere.
  var redirect: String? {
    var text: UnsafePointer<CChar>?
    unsafe ccurl_get_string(handle, CURLINFO_REDIRECT_URL, &text)
    return unsafe text.map { unsafe String(cString: $0) }
  }

  /// When a step was done, from the start of the transfer; nil if it was not reached.
  func moment(_ key: CURLINFO) -> Duration? {
    var microseconds: curl_off_t = 0
    guard unsafe ccurl_get_microseconds(handle, key, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
    return .microseconds(microseconds)
  }
}

private func exchange(_ context: UnsafeMutableRawPointer?) -> HTTPExchange? {
  unsafe context.map { unsafe Unmanaged<HTTPExchange>.fromOpaque($0).takeUnretainedValue() }
}

/// CURLOPT_OPENSOCKETFUNCTION: hands over the connected socket; a second one there is not.
private func curlOpens(
  _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  unsafe exchange(context)?.handOver() ?? curl_socket_t(CURL_SOCKET_BAD)
}

/// CURLOPT_SOCKOPTFUNCTION: there is nothing to connect any more.
private func curlConnects(
  _ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ purpose: curlsocktype
) -> Int32 { CURL_SOCKOPT_ALREADY_CONNECTED }

/// CURLOPT_CLOSESOCKETFUNCTION.
private func curlCloses(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
  if let context = unsafe context {
    unsafe Unmanaged<CurlGroup>.fromOpaque(context).takeUnretainedValue().close(descriptor)
  }
  return 0
}

/// CURLOPT_PREREQFUNCTION: the connection is ready, TLS included, and the request is not sent yet.
private func curlRequests(
  _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
  _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
  unsafe exchange(context)?.maySend() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// CURLOPT_WRITEFUNCTION: any count but the one given ends the transfer.
private func curlReceives(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  let room = unsafe UnsafeRawBufferPointer(start: bytes, count: total)
  return unsafe exchange(context)?.take(body: room) == true ? total : 0
}

/// CURLOPT_HEADERFUNCTION: one line, also of answers before the last (1xx).
private func curlReceivesHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  let room = unsafe UnsafeRawBufferPointer(start: bytes, count: total)
  return unsafe exchange(context)?.take(header: room) == true ? total : 0
}
