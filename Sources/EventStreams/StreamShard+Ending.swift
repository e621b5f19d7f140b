internal import Glibc

// The ends of streams.
extension StreamShard {
  /// Ends the body and closes a stream, between two chunks: as after a client has closed its sending side, but reads on.
  func end(_ number: Int32) {
    unsafe ChunkedCoding.end.withUnsafeBytes { _ = unsafe StreamSocket.send(slots[number].descriptor, $0) }
    finish(number)
  }

  /// Closes a stream with an orderly shutdown.
  func finish(_ number: Int32) {
    StreamSocket.discard(slots[number].descriptor)
    shutdown(slots[number].descriptor, Int32(SHUT_WR))
    drop(number)
  }

  /// Disconnects a subscriber that was too slow, and discards what the kernel has for it: it resumes after its last event.
  func dropLagging(_ number: Int32) {
    counters.lagged.increment()
    StreamSocket.discardUnsent(slots[number].descriptor)
    drop(number)
  }
}
