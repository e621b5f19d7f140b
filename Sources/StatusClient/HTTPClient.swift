internal import CCurl
internal import Probers

/// A blocking HTTP client for the command line: a status page, a health check, a change of a target, an event stream.
///
/// It sends the request only to the server in the URL: no proxy (a health check through `HTTP_PROXY` would test the
/// proxy), no redirect, no `.netrc`, no cookie, http and https only.
public enum HTTPClient {
  /// A request; a GET request unless ``method`` says otherwise.
  public struct Request: Sendable {
    /// The method.
    public var method = "GET"
    /// An absolute `http:` or `https:` URL.
    public var url: String
    /// Sent unchanged; control characters in them are refused.
    public var headers: [String: String] = [:]
    /// The body; nil for none.
    public var body: String?
    /// The limit for resolving, connecting and the whole body, 1 ms to an hour; for a stream, for resolving and
    /// connecting.
    public var timeout: Duration
    /// A file of the certificate authorities to trust, PEM; nil for those of the system.
    public var authorities: String?
    /// The path of a Unix-domain socket to connect to instead of the URL's host; nil for TCP.
    public var unixSocket: String?
    /// Whether to accept any certificate; only where nothing secret is sent and no other server can answer.
    public var allowsUntrusted = false

    /// Creates a GET request.
    public init(_ url: String, timeout: Duration) {
      self.url = url
      self.timeout = timeout
    }
  }

  /// A final response; any status is a response, 503 included.
  public struct Response: Sendable {
    /// The status code.
    public var status: Int
    /// The `Content-Type` field, if there is one.
    public var contentType: String?
    /// The body.
    public var body: [UInt8]
  }

  /// Sends a request once and waits for the whole response.
  ///
  /// Blocks the calling thread for up to the timeout: never call it on the cooperative pool's threads.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - maximumBody: the longest body accepted, in bytes.
  /// - Returns: the final response.
  /// - Throws: ``HTTPClientError`` if there is no complete response.
  public static func send(_ request: Request, maximumBody: Int) throws(HTTPClientError) -> Response {
    try unsafe perform(request) { _ in HTTPBodySink(limit: max(0, maximumBody)) }
  }

  /// Sends a request and passes on the parts of an event stream (`text/event-stream`), until it ends.
  ///
  /// Blocks the calling thread. A server that sends nothing for ``Limits/streamSilence`` ends the stream with an error.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - maximumBody: the longest body of any other response, in bytes.
  ///   - onOpen: is called before the first part, with the server's time (`Date`) in seconds since 1970, if it sends one.
  ///   - receive: is called with each part on this thread.
  /// - Returns: the response when it ends; the body of an event stream is empty.
  /// - Throws: ``HTTPClientError`` if the stream cannot be received or is interrupted.
  public static func stream(
    _ request: Request, maximumBody: Int, onOpen: @escaping (_ date: Int?) -> Void = { _ in },
    receive: @escaping ([UInt8]) -> Void
  ) throws(HTTPClientError) -> Response {
    var isOpen = false
    return try unsafe perform(request) { handle in
      HTTPBodySink(limit: maximumBody, consumer: receive) {
        if isOpen { return true }
        let (status, type) = unsafe head(handle)
        isOpen = status == 200 && type?.lowercased().hasPrefix("text/event-stream") == true
        if isOpen { unsafe onOpen(date(handle)) }
        return isOpen
      }
    }
  }

  private static func perform(
    _ request: Request, _ makeSink: (UnsafeMutableRawPointer) -> HTTPBodySink
  ) throws(HTTPClientError) -> Response {
    try check(request)
    let url = request.url
    guard CurlLibrary.isInitialized, let handle = unsafe curl_easy_init() else {
      throw HTTPClientError(reason: .failed, url: url, message: "libcurl could not be initialised")
    }
    defer { unsafe curl_easy_cleanup(handle) }
    var list: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(list) }
    for (name, value) in request.headers {
      // "Name;" makes curl send a header without a value; "Name:" would remove it.
      unsafe list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    let sink = unsafe makeSink(handle)
    let code = unsafe configure(handle, request, list: list, sink: sink)
    guard code == CURLE_OK else { throw failure(code, url: url, sink: sink) }
    if let file = request.authorities, unsafe ccurl_set_string(handle, CURLOPT_CAINFO, file) != CURLE_OK {
      throw HTTPClientError(reason: .tls, url: url, message: "\(file) cannot be used")
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
      if request.unixSocket != nil, outcome == CURLE_COULDNT_CONNECT,
        unsafe ccurl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0
      {
        text = SocketFailure.message(Int32(clamping: number))
      }
      throw failure(outcome, url: request.unixSocket.map { "unix:\($0)" } ?? url, sink: sink, words: text)
    }
    let (status, type) = unsafe head(handle)
    return Response(status: status, contentType: type, body: sink.bytes)
  }

  private static func head(_ handle: UnsafeMutableRawPointer) -> (status: Int, contentType: String?) {
    var status = 0
    unsafe ccurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    var type: UnsafePointer<CChar>?
    unsafe ccurl_get_string(handle, CURLINFO_CONTENT_TYPE, &type)
    return unsafe (status, type.map { unsafe String(cString: $0) })
  }

  /// Returns the time in the field `Date` of the response, in seconds since 1970; nil without a valid one.
  private static func date(_ handle: UnsafeMutableRawPointer) -> Int? {
    var field: UnsafeMutablePointer<curl_header>?
    guard unsafe curl_easy_header(handle, "Date", 0, UInt32(CURLH_HEADER), -1, &field) == CURLHE_OK,
      let value = unsafe field?.pointee.value
    else { return nil }
    let seconds = unsafe curl_getdate(value, nil)
    return (0...Limits.latestSecond).contains(seconds) ? seconds : nil
  }
}
