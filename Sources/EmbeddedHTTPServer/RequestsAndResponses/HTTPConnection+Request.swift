extension HTTPConnection {
  /// A head's values as a request, valid or not.
  func makeRequest(_ head: RequestHead, _ parts: RequestTarget?) -> HTTPRequest {
    var request = HTTPRequest(
      method: head.method, target: target, parts: parts, version: head.version, headers: head.headers, body: [],
      peer: peer, isLoopbackListener: loop.context.isLoopbackListener)
    request.isUnixListener = loop.context.isUnixListener
    request.headers.trimValues()
    if let authority = parts?.authority { request.headers["Host"] = authority }
    return request
  }
}
