internal import CCurl
internal import EventLoop

/// Receives a body on the thread of the transfer: collects it up to a limit, or passes the parts of a stream on.
final class HTTPBodySink {
  /// The longest body to collect, in bytes.
  let limit: Int
  var bytes: [UInt8] = []
  /// Whether the transfer was ended because the body exceeds the limit.
  var isTooLarge = false
  /// Whether the stream was ended because the server sent nothing for too long.
  var isSilent = false
  /// Receives the parts of an event stream; nil to collect the body.
  private let consumer: (([UInt8]) -> Void)?
  /// Whether the response is an event stream, and not for example an error document.
  private let isEventStream: () -> Bool
  private var lastArrival = MonotonicInstant.now

  init(limit: Int, consumer: (([UInt8]) -> Void)? = nil, isEventStream: @escaping () -> Bool = { false }) {
    self.limit = limit
    self.consumer = consumer
    self.isEventStream = isEventStream
  }

  /// Whether the transfer has no time limit.
  var isStream: Bool { consumer != nil }

  /// Takes a part of the body; false ends the transfer.
  fileprivate func receive(_ part: [UInt8]) -> Bool {
    if let consumer, isEventStream() {
      consumer(part)
      // A slow consumer is not a silent server.
      lastArrival = .now
      return true
    }
    guard bytes.count + part.count <= limit else {
      isTooLarge = true
      return false
    }
    bytes += part
    return true
  }

  /// Whether the stream is within its limit of silence, which includes the time until the response begins.
  fileprivate func isInTime() -> Bool {
    isSilent = lastArrival.duration(to: .now) > Limits.streamSilence
    return !isSilent
  }
}

/// libcurl's write callback: any count except the given one ends the transfer.
func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
  let sink = unsafe Unmanaged<HTTPBodySink>.fromOpaque(context).takeUnretainedValue()
  let total = size * count
  let part = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: total))
  return sink.receive(part) ? total : 0
}

/// libcurl's progress callback, which is called about once a second; a result other than 0 ends the transfer.
func checkProgress(
  _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
  guard let context = unsafe context else { return 1 }
  return unsafe Unmanaged<HTTPBodySink>.fromOpaque(context).takeUnretainedValue().isInTime() ? 0 : 1
}
