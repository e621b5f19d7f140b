internal import EventStreams
internal import EventLoop
internal import Glibc

/// Writes responses to the socket in states in which libmicrohttpd accepts none (ADR 14).
///
/// These are: before a head is complete, in the middle of a body, and after the client has closed its sending side.
final class DirectResponder {
  private let context: HTTPServerContext
  private let refusal: HTTPRefusalRenderer

  init(_ context: HTTPServerContext, refusal: @escaping HTTPRefusalRenderer) {
    self.context = context
    self.refusal = refusal
  }

  /// The response for a refusal, with the fields that every refusal has.
  func render(_ reason: RequestRefusal, for connection: HTTPConnection) -> HTTPResponse {
    var response = refusal(reason, connection.current.request)
    if let seconds = reason.retryAfterSeconds { response.headers["Retry-After"] = String(seconds) }
    if case .stream = response.body { response.body = .none }
    return response
  }

  /// The response to a request that cannot be answered any more because the server stops.
  ///
  /// A browser's EventSource reconnects after the end of a stream, but never after a response with an error (HTML §9.2.2), so
  /// that it receives a stream that ends.
  ///
  /// - Parameters:
  ///   - headers: those of the stream that was requested.
  ///   - connection: the connection with the request.
  /// - Returns: the response.
  func renderDraining(_ headers: HTTPHeaders = [:], for connection: HTTPConnection) -> HTTPResponse {
    let accepted = connection.current.request?.headers["Accept"]?.lowercased() ?? ""
    guard connection.current.request?.method == "GET", accepted.contains("text/event-stream") else {
      return render(.draining, for: connection)
    }
    var response = HTTPResponse(headers: headers, body: .bytes(context.stop.closeEvent ?? []))
    response.headers["Content-Type"] = "text/event-stream"
    response.headers["Cache-Control"] = "no-store"
    response.headers["Connection"] = "close"
    return response
  }

  /// Writes a refusal and closes the sending side.
  ///
  /// To be called only while the library has nothing to send on the connection, and after a request line, so after the
  /// handshake under TLS. Anything the library sends later finds a closed direction. The client has a moment to read
  /// the response and to close; then the other direction is shut down, too.
  func refuseDirectly(_ connection: HTTPConnection, _ reason: RequestRefusal) {
    guard !connection.isAborted else { return }
    connection.end(.refusedDirectly)
    connection.setRequestDeadline(nil)
    let response = render(reason, for: connection)
    // No head was complete from which time could be measured.
    if !connection.phase.hasHead { connection.current.headTime = .now }
    connection.report(response)
    connection.client.sendLast(MHDRawResponse.bytes(of: response, toHead: connection.current.isHead))
    context.timers.set(.cut(connection.token), at: context.now.advanced(by: Limits.linger))
  }

  /// Rejects a connection for lack of capacity before its request, because an idle one would keep its descriptor.
  func rejectConnection(_ connection: HTTPConnection) {
    connection.end(.turnedAway)
    context.counters.overloaded.increment()
    if connection.client.isPlain {
      let response = render(.overloaded("too many connections are open"), for: connection)
      connection.client.sendDirectly(MHDRawResponse.bytes(of: response))
    }
    connection.client.shutDown()
  }

  /// Writes the response to a client that has closed its sending side, if that is possible without waiting.
  ///
  /// The library would read first, and take the end of the client's bytes for the end of the connection, depending on
  /// the rest of its epoll set.
  ///
  /// - Returns: false if the client has not closed its side, or the response may not fit into the socket's buffer.
  func answersDirectly(_ connection: HTTPConnection, _ response: HTTPResponse) -> Bool {
    guard connection.client.isPlain, !connection.isDisconnected else { return false }
    if case .stream = response.body { return false }
    guard connection.client.hasClosedSide else { return false }
    let bytes = MHDRawResponse.bytes(of: response, toHead: connection.current.isHead)
    guard bytes.count <= Limits.rawResponse else { return false }
    ListeningSocket.set(connection.client.descriptor, SOL_SOCKET, SO_SNDBUF, Int32(2 * Limits.rawResponse))
    connection.report(response)
    connection.client.sendDirectly(bytes)
    return true
  }
}
