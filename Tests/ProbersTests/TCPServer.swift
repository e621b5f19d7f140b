import TestSupport
import Glibc
import Locks

/// A TCP server on an address of 127.0.0.0/8 that does as its script says with every connection, each on a thread of its own.
final class TCPServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let taken = Locked(0)

  /// Connections that were accepted.
  var connections: Int { taken.withLock { $0 } }

  /// The connection is closed when `script` returns.
  init(host: UInt8 = 1, port: UInt16 = 0, _ script: @escaping @Sendable (_ peer: Int32) -> Void) throws {
    (listener, self.port) = try Loopback.bound(.stream, host: host, port: port)
    guard listen(listener, 4_096) == 0 else { throw Loopback.Failure(operation: "listen") }
    Loopback.thread { [weak self, listener] in
      defer { close(listener) }
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        self?.taken.withLock { $0 += 1 }
        Loopback.thread {
          script(peer)
          close(peer)
        }
      }
    }
  }

  deinit {
    // Closed by the thread alone: here, the number could be another server's before the thread accepts again.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Waits until the peer has closed; a test ends its prober, so the wait is bounded.
  static func untilClosed(_ peer: Int32) {
    while !Loopback.receive(4_096, from: peer).isEmpty {}
  }

  /// Closes with a reset instead of an end (socket(7), SO_LINGER).
  static func reset(_ peer: Int32) {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(peer, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
  }
}
