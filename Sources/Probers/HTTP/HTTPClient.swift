internal import CCurl
internal import Glibc

/// A blocking HTTP GET for the command line: a status page, a health check.
///
/// It sends the request only to the server in the URL: no proxy (a health check through `HTTP_PROXY` would test the
/// proxy), no redirect, no `.netrc`, no cookie, http and https only.
public enum HTTPClient {
  /// Requests `url` once and waits for the whole answer.
  ///
  /// Blocks the calling thread for up to `timeout`: never call it on the cooperative pool's threads.
  ///
  /// - Parameters:
  ///   - url: an absolute `http:` or `https:` URL.
  ///   - headers: sent unchanged; control characters in them are refused.
  ///   - timeout: the limit for resolving, connecting and the whole body. At least 1 ms, at most an hour.
  ///   - maximumBody: the longest body accepted, in bytes.
  ///   - authorities: a file of the certificate authorities to trust, PEM; nil for those of the system.
  ///   - unixSocket: the path of a Unix socket to connect to instead of the URL's host; nil for TCP.
  ///   - allowsUntrusted: whether to accept any certificate; only where nothing secret is sent and no other server can
  ///     answer.
  /// - Returns: the final status code (any: 503 is an answer), the `Content-Type` field if there is one, the body.
  /// - Throws: ``HTTPClientError`` if there is no complete answer.
  public static func get(
    url: String, headers: [String: String] = [:], timeout: Duration, maximumBody: Int, authorities: String? = nil,
    unixSocket: String? = nil, allowsUntrusted: Bool = false
  ) throws(HTTPClientError) -> (status: Int, contentType: String?, body: [UInt8]) {
    try check(url: url, headers: headers, unixSocket: unixSocket)
    guard globalCode == CURLE_OK, let handle = unsafe curl_easy_init() else {
      throw HTTPClientError(reason: .failed, url: url, message: "libcurl could not be initialised")
    }
    defer { unsafe curl_easy_cleanup(handle) }
    var list: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(list) }
    for (name, value) in headers {
      // "Name;" makes curl send a header without a value; "Name:" would remove it.
      unsafe list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    let sink = BodyBuffer(limit: max(0, maximumBody))
    let code = unsafe configure(handle, url: url, timeout: timeout, unixSocket: unixSocket, list: list, sink: sink)
    guard code == CURLE_OK else { throw failure(code, url: url, sink: sink) }
    if let authorities, unsafe ccurl_set_string(handle, CURLOPT_CAINFO, authorities) != CURLE_OK {
      throw HTTPClientError(reason: .tls, url: url, message: "\(authorities) cannot be used")
    }

    if allowsUntrusted {
      for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST] { unsafe ccurl_set_long(handle, option, 0) }
    }

    // curl writes its error text to a separate buffer; that text is more precise than the one of the code.
    let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { unsafe words.deallocate() }
    unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, words)
    let outcome = withExtendedLifetime(sink) { unsafe curl_easy_perform(handle) }
    unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
    guard outcome == CURLE_OK else {
      var text = unsafe String(cString: words)
      // curl's text would contain the placeholder host and port instead of the socket.
      var number = 0
      if unixSocket != nil, outcome == CURLE_COULDNT_CONNECT,
        unsafe ccurl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0
      {
        text = SocketFailure.message(Int32(clamping: number))
      }
      throw failure(outcome, url: unixSocket.map { "unix:\($0)" } ?? url, sink: sink, words: text)
    }
    var status = 0
    unsafe ccurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    var type: UnsafePointer<CChar>?
    unsafe ccurl_get_string(handle, CURLINFO_CONTENT_TYPE, &type)
    return unsafe (status, type.map { unsafe String(cString: $0) }, sink.bytes)
  }

  /// libcurl's one-time initialization, which must happen before any handle and only once.
  static let globalCode = curl_global_init(Int(CURL_GLOBAL_ALL))

  private static func check(url: String, headers: [String: String], unixSocket: String?) throws(HTTPClientError) {
    func refuse(_ message: String) -> HTTPClientError {
      HTTPClientError(reason: .badRequest, url: url, message: message)
    }
    if url.utf8.count > Limits.urlBytes { throw refuse("the URL is longer than \(Limits.urlBytes) bytes") }
    if hasControl(url) { throw refuse("the URL contains a control character") }
    let scheme = url.lowercased()
    guard scheme.hasPrefix("http://") || scheme.hasPrefix("https://") else {
      throw refuse("the URL must begin with http:// or https://")  // curl would guess a scheme from the host's name
    }
    for (name, value) in headers where hasControl(name) || hasControl(value) || name.isEmpty || name.contains(":") {
      throw refuse("the header '\(name)' is empty or has a control character or a colon in its name")
    }
    if let unixSocket, unixSocket.isEmpty || hasControl(unixSocket) {
      throw refuse("the socket path is empty or contains a control character")
    }
  }

  private static func hasControl(_ text: String) -> Bool {
    text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }

  private static func configure(
    _ handle: UnsafeMutableRawPointer, url: String, timeout: Duration, unixSocket: String?,
    list: UnsafeMutablePointer<curl_slist>?, sink: BodyBuffer
  ) -> CURLcode {
    let milliseconds = max(1, min(timeout, Limits.longestTimeout) / .milliseconds(1))
    var codes = [
      unsafe ccurl_set_string(handle, CURLOPT_URL, url),
      unsafe ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      unsafe ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1),  // curl's SIGALRM is not for a process with threads
      unsafe ccurl_set_string(handle, CURLOPT_PROXY, ""),
      unsafe ccurl_set_string(handle, CURLOPT_NOPROXY, "*"),
      unsafe ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
      unsafe ccurl_set_long(handle, CURLOPT_NETRC, 0),
      unsafe ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(milliseconds)),
      unsafe ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds)),
      unsafe ccurl_set_string(handle, CURLOPT_USERAGENT, "reachd"),
      unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list),
      unsafe ccurl_set_write_callback(handle, receiveBody),
      unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(sink).toOpaque()),
    ]
    if let unixSocket { codes.append(unsafe ccurl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, unixSocket)) }
    return codes.first { $0 != CURLE_OK } ?? CURLE_OK
  }

  private static func failure(
    _ code: CURLcode, url: String, sink: BodyBuffer, words: String = ""
  ) -> HTTPClientError {
    if sink.isTooLarge {
      return HTTPClientError(
        reason: .bodyTooLarge, url: url, message: "the body is longer than \(sink.limit) bytes")
    }
    let reason: HTTPClientError.Reason =
      switch code {
      // Not CURLE_UNSUPPORTED_PROTOCOL: the scheme is checked above, and curl also returns that code for an HTTP/0.9
      // answer.
      case CURLE_URL_MALFORMAT: .badRequest
      case CURLE_COULDNT_RESOLVE_HOST: .notResolved
      case CURLE_COULDNT_CONNECT: .notConnected
      case CURLE_OPERATION_TIMEDOUT: .timeout
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CACERT_BADFILE:
        .tls
      default: .failed
      }
    let text = unsafe words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
    return HTTPClientError(reason: reason, url: url, message: text)
  }
}

/// Collects a body, up to its limit.
private final class BodyBuffer {
  let limit: Int
  var bytes: [UInt8] = []
  var isTooLarge = false

  init(limit: Int) { self.limit = limit }
}

/// libcurl's write callback: any count except the given one ends the transfer.
private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
  let sink = unsafe Unmanaged<BodyBuffer>.fromOpaque(context).takeUnretainedValue()
  let total = size * count
  guard sink.bytes.count + total <= sink.limit else {
    sink.isTooLarge = true
    return 0
  }
  unsafe sink.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: total))
  return total
}
