/// Bytes that a connection is charged with.
struct ConnectionCharge {
  /// Its buffers and objects, and those of the kernel.
  var fixed = 0
  /// Its request while that is incomplete or waits, or its response until that is sent.
  var exchange = 0
  /// Its response is a stream by callback, and ``fixed`` is what that needs beyond a stream that was taken over.
  var isStream = false
  /// What the kernel buffers for its socket.
  var socket = 0

  var total: Int { fixed + exchange + socket }
}

extension HTTPConnection {
  /// A response begins, or the time without one; the exchange of a client that has not received earlier responses goes on.
  func exchangeBegins() {
    if charge.socket == 0 { since = loop.context.now }
  }
}
