internal import CCurl
internal import Probers

/// Validation and libcurl's options of a request.
extension HTTPClient {
  static func check(_ request: Request) throws(HTTPClientError) {
    let url = request.url
    func refuse(_ message: String) -> HTTPClientError {
      HTTPClientError(reason: .badRequest, url: url, message: message)
    }
    if url.utf8.count > Limits.urlBytes { throw refuse("the URL is longer than \(Limits.urlBytes) bytes") }
    if hasControl(url) { throw refuse("the URL contains a control character") }
    let scheme = url.lowercased()
    guard scheme.hasPrefix("http://") || scheme.hasPrefix("https://") else {
      throw refuse("the URL must begin with http:// or https://")  // curl would guess a scheme from the host's name
    }
    for (name, value) in request.headers
    where hasControl(name) || hasControl(value) || name.isEmpty || name.contains(":") {
      throw refuse("the header '\(name)' is empty or has a control character or a colon in its name")
    }
    if let socket = request.unixSocket, socket.isEmpty || hasControl(socket) {
      throw refuse("the socket path is empty or contains a control character")
    }
  }

  private static func hasControl(_ text: String) -> Bool {
    text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }

  static func configure(
    _ handle: UnsafeMutableRawPointer, _ request: Request, list: UnsafeMutablePointer<curl_slist>?, sink: HTTPBodySink
  ) -> CURLcode {
    let milliseconds = Int(max(1, min(request.timeout, Limits.longestTimeout) / .milliseconds(1)))
    var codes = [
      unsafe ccurl_set_string(handle, CURLOPT_URL, request.url),
      unsafe ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      unsafe ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1),  // curl's SIGALRM is not for a process with threads
      // The thread that resolves the name cannot be cancelled; without this, the end of the transfer waits for it.
      unsafe ccurl_set_long(handle, CURLOPT_QUICK_EXIT, 1),
      unsafe ccurl_set_string(handle, CURLOPT_PROXY, ""),
      unsafe ccurl_set_string(handle, CURLOPT_NOPROXY, "*"),
      unsafe ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
      unsafe ccurl_set_long(handle, CURLOPT_NETRC, 0),
      unsafe ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, sink.isStream ? 0 : milliseconds),
      unsafe ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds),
      unsafe ccurl_set_string(handle, CURLOPT_USERAGENT, "reachd"),
      unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list),
      unsafe ccurl_set_request_callback(handle, refuseRenegotiation),
      unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, handle),
      unsafe ccurl_set_write_callback(handle, receiveBody),
      unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(sink).toOpaque()),
    ]
    if let socket = request.unixSocket {
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, socket))
    }
    if let body = request.body { codes.append(unsafe ccurl_set_string(handle, CURLOPT_COPYPOSTFIELDS, body)) }
    if request.method != "GET" { codes.append(unsafe ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)) }
    if sink.isStream {
      codes += [
        unsafe ccurl_set_long(handle, CURLOPT_NOPROGRESS, 0),
        unsafe ccurl_set_progress_callback(handle, checkProgress),
        unsafe ccurl_set_pointer(handle, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(sink).toOpaque()),
      ]
    }
    if request.allowsUntrusted {
      codes += [CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST].map { unsafe ccurl_set_long(handle, $0, 0) }
    }
    return codes.first { $0 != CURLE_OK } ?? CURLE_OK
  }

  static func failure(
    _ code: CURLcode, url: String, sink: HTTPBodySink, words: String = ""
  ) -> HTTPClientError {
    if sink.isSilent {
      return HTTPClientError(
        reason: .timeout, url: url, message: "no data for \(Limits.streamSilence.components.seconds) s")
    }
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
    if let refusal = CurlLibrary.refusal(message: words) {
      return HTTPClientError(reason: .tls, url: url, message: refusal)
    }
    let text = unsafe words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
    return HTTPClientError(reason: reason, url: url, message: text)
  }
}

/// libcurl's callback before the request is sent; libcurl would wait in a renegotiation without a limit of time.
private func refuseRenegotiation(
  _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
  _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
  if let handle = unsafe context { unsafe CurlLibrary.refuseRenegotiation(of: handle) }
  return CURL_PREREQFUNC_OK
}
