internal import EventLoop

/// Bytes that a connection is charged with, and since when.
struct ConnectionCharge {
  /// Its buffers and objects, and those of the kernel.
  var fixed = 0
  /// Its request while that is incomplete or waits, or its response until that is sent.
  var exchange = 0
  /// Its response is a stream by callback, and ``fixed`` is what that needs beyond a stream that was taken over.
  var isStream = false
  /// What the kernel buffers for its socket.
  var socket = 0
  /// Bytes of responses since ``ConnectionMemory`` last examined what the client has not received of them.
  var uncheckedOutput = 0
  /// When the present exchange, or the time without one, began.
  var since: MonotonicInstant

  var total: Int { fixed + exchange + socket }

  /// The kernel buffers something for the socket, as far as is known.
  var mayBeUnsent: Bool { uncheckedOutput > 0 || socket > 0 }
}
