/// How event streams reach their clients.
public enum HTTPStreamMode: String, Sendable, CaseIterable {
  /// `takeover` if a self-test at the start shows that this libmicrohttpd releases its sockets, `callback` otherwise.
  case auto
  /// The server takes the socket over from libmicrohttpd, and sends an event with one system call per client.
  case takeover
  /// libmicrohttpd keeps the connection and requests each block through a callback.
  case callback
}
