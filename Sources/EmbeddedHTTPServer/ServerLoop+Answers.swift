internal import CMicroHTTPD
internal import Synchronization

/// Answers: from values to libmicrohttpd's responses.
extension ServerLoop {
  /// Streams were told farewell, or the end is set: nobody is to stay.
  var isDraining: Bool { closeEvent != nil || stopDeadline != nil }

  func answer(_ connection: Connection, _ response: HTTPResponse) -> Bool {
    var response = response
    // Nobody who waits is to ask again while we wait for others.
    if isDraining || announcesClose && response.length != nil { response.headers["Connection"] = "close" }
    let isBare = response.isBareShared
    if let strictTransport { response.headers["Strict-Transport-Security"] = strictTransport }
    switch response.body {
    case .shared(let body):
      return queue(
        connection, response,
        isBare
          ? body.response(strictTransport: strictTransport)
          : ResponseHandle(bytes: body.bytes, headers: response.headers))
    case .none: return queue(connection, response, ResponseHandle(bytes: [], headers: response.headers))
    case .bytes(let bytes): return queue(connection, response, ResponseHandle(bytes: bytes, headers: response.headers))
    case .stream(let stream): return answer(connection, response, stream)
    }
  }

  private func answer(_ connection: Connection, _ response: HTTPResponse, _ stream: HTTPStream) -> Bool {
    if connection.request?.method == "HEAD" {
      // Chunked, the library would send the last chunk's `0` even here; closing, it sends the head and nothing else.
      let made = unsafe ResponseHandle(
        blockSize: 1, headers: response.headers, reader: httpNoBody, context: nil, free: nil)
      made?.closeAfter()
      return queue(connection, response, made)
    }
    if isDraining {
      return answer(connection, render(.draining, for: connection))
    }
    if stream.endsAfter == nil, counters.streams.load(ordering: .relaxed) >= configuration.streamLimit {
      counters.overloaded.increment()
      return answer(connection, render(.overloaded("Too many event streams are open."), for: connection))
    }
    if let hub, stream.endsAfter == nil, takeOver(connection, response, stream, hub) { return false }
    let context = unsafe Unmanaged.passRetained(connection)
    let made = unsafe ResponseHandle(
      blockSize: Limits.streamBlock, headers: response.headers, reader: httpStreamBytes, context: context.toOpaque(),
      free: httpStreamFree)
    guard let made else {
      unsafe context.release()
      return false
    }
    beginStream(connection, stream)
    return queue(connection, response, made)
  }

  private func queue(_ connection: Connection, _ response: HTTPResponse, _ made: ResponseHandle?) -> Bool {
    guard let made else { return false }
    report(connection, response)
    latestAnswer = connection
    // A stream lives long, and its request is not needed any more.
    if connection.phase == .streaming { connection.request = nil } else { connection.phase = .answered }
    return unsafe MHD_queue_response(connection.handle, UInt32(clamping: response.status), made.pointer) == .YES
  }
}
