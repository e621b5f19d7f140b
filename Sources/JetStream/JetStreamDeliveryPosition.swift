/// What the subject for acknowledgements says about a message that a consumer delivers (ADR-15 of NATS).
struct JetStreamDeliveryPosition: Hashable, Sendable {
  var streamSequence: UInt64
  /// The number of the delivery by this consumer, from 1.
  var consumerSequence: UInt64
  /// When the message was stored, in nanoseconds since 1970.
  var time: Int64
  /// The messages that follow and are stored already.
  var pending: UInt64

  /// Reads `$JS.ACK.STREAM.CONSUMER.DELIVERED.SSEQ.CSEQ.TIME.PENDING`, or the form with a domain and an account's hash
  /// before the stream and a random token at the end; nil for another subject.
  init?(acknowledgement subject: String) {
    let tokens = subject.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard tokens.count >= 9, tokens[0].elementsEqual("$JS".utf8), tokens[1].elementsEqual("ACK".utf8) else {
      return nil
    }
    let first = tokens.count == 9 ? 5 : 7
    guard tokens.count > first + 3, let stream = UInt64(Substring(tokens[first])),
      let consumer = UInt64(Substring(tokens[first + 1])), let time = Int64(Substring(tokens[first + 2])),
      let pending = UInt64(Substring(tokens[first + 3])), stream <= Limits.sequence, consumer <= Limits.sequence
    else { return nil }
    streamSequence = stream
    consumerSequence = consumer
    self.time = time
    self.pending = pending
  }
}
