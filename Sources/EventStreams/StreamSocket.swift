internal import Glibc

/// Operations on the socket of a stream, which never wait.
enum StreamSocket {
  enum Sent {
    case all
    case part(Int)
    /// The client has closed the connection.
    case gone
  }

  /// Sends what the socket accepts now.
  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Sent {
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    if count == bytes.count { return .all }
    if count >= 0 { return .part(count) }
    return errno == EAGAIN || errno == EINTR ? .part(0) : .gone
  }

  /// Makes the close of a socket reset the connection, which discards what was not sent (socket(7), SO_LINGER).
  static func discardUnsent(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Discards what a client sends on a stream: unread bytes at the end would reset the connection.
  static func discard(_ descriptor: Int32) {
    // MSG_TRUNC discards without a copy (tcp(7)); Unix-domain sockets do not support it.
    let count = recv(descriptor, nil, Limits.streamDiscard, Int32(MSG_DONTWAIT | MSG_TRUNC))
    guard count < 0, errno == EFAULT else { return }
    unsafe withUnsafeTemporaryAllocation(byteCount: Limits.streamPiece, alignment: 1) { buffer in
      for _ in 0..<Limits.streamDiscard / buffer.count {
        guard unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) == buffer.count else {
          return
        }
      }
    }
  }
}
