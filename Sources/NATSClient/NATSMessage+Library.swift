internal import CNATS
internal import Glibc

extension NATSMessage {
  /// Copies a message of the library.
  ///
  /// The library's reading of headers takes quadratic time in their number, and the sender chooses it: headers are read only
  /// where the sender is a server.
  init(_ message: OpaquePointer, headers names: [String], readsStatus: Bool) {
    let count = Int(unsafe natsMsg_GetDataLength(message))
    let bytes = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count)
    self.init(
      subject: unsafe natsMsg_GetSubject(message).map { unsafe String(cString: $0) } ?? "",
      reply: unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }, payload: unsafe Array(bytes))
    // A status comes without a payload.
    if readsStatus, count == 0 { status = unsafe Self.values(of: "Status", in: message)?.first.flatMap { Int($0) } }
    for name in names { headers[name] = unsafe Self.values(of: name, in: message) }
  }

  private static func values(of name: String, in message: OpaquePointer) -> [String]? {
    var list: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: Int32 = 0
    guard unsafe natsMsgHeader_Values(message, name, &list, &count) == NATS_OK, let list = unsafe list else {
      return nil
    }
    // The texts are the message's; the list is not.
    defer { unsafe free(list) }
    return (0..<Int(count)).compactMap { unsafe list[$0].map { unsafe String(cString: $0) } }
  }
}

extension NATSError {
  /// Makes an error from a status of the library and its message on this thread.
  static func last(_ operation: String, _ status: natsStatus) -> NATSError {
    var known = NATS_OK
    let text = unsafe nats_GetLastError(&known).map { unsafe String(cString: $0) } ?? ""
    let fallback = unsafe String(cString: natsStatus_GetText(status))
    return NATSError(operation, kind(status), known == status && !text.isEmpty ? text : fallback)
  }

  private static func kind(_ status: natsStatus) -> Kind {
    switch status {
    case NATS_CONNECTION_CLOSED, NATS_NO_SERVER, NATS_STALE_CONNECTION, NATS_CONNECTION_DISCONNECTED,
      NATS_NOT_YET_CONNECTED, NATS_INSUFFICIENT_BUFFER, NATS_DRAINING, NATS_IO_ERROR:
      .disconnected
    case NATS_TIMEOUT: .timedOut
    case NATS_NO_RESPONDERS: .noResponders
    case NATS_NOT_FOUND: .notFound
    case NATS_MAX_PAYLOAD: .tooLarge
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: .notPermitted
    default: .failed
    }
  }
}
