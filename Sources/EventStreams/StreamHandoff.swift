/// A stream that the server's thread transfers to the shard.
package struct StreamHandoff: Sendable {
  let descriptor: Int32
  let stream: EventStreamResponse
  /// The bytes of the head and the preamble that are not sent yet.
  let unsent: [UInt8]
  /// Retained until the stream ends.
  let slotAddress: (any AnyObject & Sendable)?

  /// Makes a handoff of a connected socket, which the shard closes.
  ///
  /// - Parameters:
  ///   - descriptor: The socket.
  ///   - stream: What the stream sends, without its preamble.
  ///   - unsent: Bytes to send first.
  ///   - slotAddress: An object that is retained until the stream ends.
  package init(
    descriptor: Int32, stream: EventStreamResponse, unsent: [UInt8], slotAddress: (any AnyObject & Sendable)?
  ) {
    self.descriptor = descriptor
    self.stream = stream
    self.unsent = unsent
    self.slotAddress = slotAddress
  }
}
