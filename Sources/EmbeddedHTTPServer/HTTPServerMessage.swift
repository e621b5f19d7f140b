internal import EventLoop
internal import EventStreams
internal import Locks

/// What other threads send to the server's thread.
enum HTTPServerMessage: Sendable {
  /// The response to a deferred request; nil if its promise was dropped.
  case reply(connection: UInt64, request: UInt64, HTTPResponse?)
  /// The response to a deferred request waits for a change.
  case wait(connection: UInt64, request: UInt64, HTTPWait)
  /// What to call when the response to a deferred request is not needed any more.
  case onAbandonment(connection: UInt64, request: UInt64, @Sendable () -> Void)
  /// A piece of a stream's history.
  case piece(connection: UInt64, StreamPiece)
  /// A taken-over stream of a client with this address has ended, where connections are limited by address.
  case releasedAddressSlot(String)
  case limits(streams: Int?, requestBody: Int?)
  case announceClose
  case stopAccepting(done: Latch)
  case endStreams(closeEvent: [UInt8])
  case stop(grace: Duration)
}

typealias HTTPServerInbox = Mailbox<HTTPServerMessage>
