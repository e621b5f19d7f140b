internal import EventLoop
internal import Glibc

/// Sockets that are read after their connection was closed (RFC 9112 §9.6).
///
/// A close with unread bytes resets the connection, and the reset may destroy the response before the client reads it.
final class LingeringHTTPSockets {
  private let context: HTTPServerContext
  private var descriptors: [UInt64: Int32] = [:]

  init(_ context: HTTPServerContext) { self.context = context }

  /// Keeps a copy of the socket of a connection that closes, if its client may still be sending.
  func add(_ connection: HTTPConnection) {
    guard connection.lingers || connection.client.unreadBytes > 0, !connection.isDisconnected, !context.stop.isStopping,
      descriptors.count < Limits.lingering
    else { return }
    let descriptor = fcntl(connection.client.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    shutdown(descriptor, Int32(SHUT_WR))
    descriptors[connection.token] = descriptor
    try? context.poller.add(descriptor, [.readable, .peerClosed], token: connection.token)
    context.timers.set(.linger(connection.token), at: context.now.advanced(by: Limits.linger))
  }

  /// Reads from the socket of a token and closes it at its end.
  ///
  /// - Returns: false if no socket has this token.
  func drain(_ token: UInt64) -> Bool {
    guard let descriptor = descriptors[token] else { return false }
    // 16 KiB from the stack; a turn reads one piece of each socket.
    let received = unsafe withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
      unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
    if received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR) { end(token) }
    return true
  }

  func end(_ token: UInt64) {
    guard let descriptor = descriptors.removeValue(forKey: token) else { return }
    context.timers.cancel(.linger(token))
    context.poller.remove(descriptor)
    close(descriptor)
  }

  func endAll() { for token in Array(descriptors.keys) { end(token) } }
}
