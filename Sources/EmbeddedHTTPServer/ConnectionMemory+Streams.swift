internal import EventStreams
internal import Synchronization

// The memory of streams. They stay open, therefore they may use only a part of the limit.
extension ConnectionMemory {
  /// Whether there is memory for another stream, so that the rest of the limit remains for requests.
  ///
  /// - Parameter isTakenOver: its socket will be taken over from libmicrohttpd.
  /// - Returns: false if the stream must be refused.
  func admitsStream(isTakenOver: Bool) -> Bool {
    let bytes = streamBytes + (isTakenOver ? Limits.streamBytes : callbackStreamBytes)
    func share(of limit: Int) -> Int { limit - limit / Limits.requestShare }
    return bytes <= share(of: context.guaranteedMemory) || bytes <= share(of: readLimit())
  }

  private var streamBytes: Int {
    context.counters.streams.open.load(ordering: .relaxed) * Limits.streamBytes
      + callbackStreams * (callbackStreamBytes - Limits.streamBytes)
  }

  private var callbackStreamBytes: Int {
    context.identity == nil ? Limits.connectionBytes : Limits.secureStreamBytes
  }

  /// Counts the connection as a stream that libmicrohttpd sends (by callback).
  func beginStream(_ connection: HTTPConnection) {
    guard connection.charge?.isStream == false else { return }
    connection.charge?.isStream = true
    callbackStreams += 1
    charge(connection, \.fixed, callbackStreamBytes - Limits.streamBytes)
  }

  /// The request is over: the connection is charged as before the stream.
  func endStream(_ connection: HTTPConnection) {
    guard connection.charge?.isStream == true else { return }
    connection.charge?.isStream = false
    callbackStreams -= 1
    charge(connection, \.fixed, fixedBytes(connection))
  }
}
