/// How event streams reach their clients.
public enum StreamMode: String, Sendable, CaseIterable {
  /// Takeover if a self-test at the start shows that this libmicrohttpd releases sockets, callback otherwise.
  case auto
  /// The socket is taken over from libmicrohttpd: a stream costs a few bytes, and an event one system call.
  case takeover
  /// libmicrohttpd keeps the connection and requests every block.
  case callback
}
