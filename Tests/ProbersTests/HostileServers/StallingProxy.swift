import Glibc
import Locks
import TestSupport

/// A TCP proxy on 127.0.0.1 whose connections stop forwarding in one direction after a number of bytes, and stay open.
final class StallingProxy: Sendable {
  enum Direction {
    case toClient, toServer
  }

  /// One connection; both sockets are closed with its last reference.
  private final class Link: Sendable {
    let client: Int32
    let server: Int32
    /// The number of calls of ``StallingProxy/arm(_:)`` before it.
    let round: Int
    private let isSettled = Locked(false)

    init(client: Int32, server: Int32, round: Int) {
      self.client = client
      self.server = server
      self.round = round
    }

    deinit {
      close(client)
      close(server)
    }

    /// True for the first call.
    func settle() -> Bool {
      isSettled.withLock { isSettled in
        defer { isSettled = true }
        return !isSettled
      }
    }

    func end() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }
  }

  private struct State {
    var limits: [Int] = []
    var round = 0
    var settled = 0
    var most = 0
    var links: [Link] = []
  }

  private final class Shared: Sendable {
    let state = Locked(State())
  }

  let port: UInt16
  private let listener: Int32
  private let shared = Shared()

  /// Connections that have stopped forwarding, or have ended, since ``arm(_:)``.
  var settled: Int { shared.state.withLock(\.settled) }
  /// The most bytes that a connection has forwarded in the direction.
  var most: Int { shared.state.withLock(\.most) }

  init(to backend: UInt16, stalling direction: Direction) throws {
    (listener, port) = try Loopback.bound(.stream)
    guard listen(listener, 256) == 0 else { throw Loopback.Failure(operation: "listen") }
    Loopback.thread { [listener, shared] in
      defer { close(listener) }
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        guard let server = Self.connection(to: backend) else {
          close(client)
          continue
        }
        let (link, limit) = shared.state.withLock { state in
          let link = Link(client: client, server: server, round: state.round)
          state.links.append(link)
          return (link, state.limits.popLast() ?? .max)
        }
        Loopback.thread {
          Self.forward(link, .toClient, direction == .toClient ? limit : .max, direction == .toClient, shared)
        }
        Loopback.thread {
          Self.forward(link, .toServer, direction == .toServer ? limit : .max, direction == .toServer, shared)
        }
      }
    }
  }

  deinit {
    release()
    // Closed by the thread alone: here, the number could be another server's before the thread accepts again.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Sets the bytes after which the next connections stop; further ones do not stop.
  func arm(_ limits: [Int]) {
    release()
    shared.state.withLock { ($0.limits, $0.settled, $0.round) = (limits, 0, $0.round + 1) }
  }

  /// Ends all connections.
  func release() {
    let links = shared.state.withLock { state in
      defer { state.links = [] }
      return state.links
    }
    links.forEach { $0.end() }
  }

  private static func forward(_ link: Link, _ way: Direction, _ limit: Int, _ isCounted: Bool, _ shared: Shared) {
    let (from, to) = way == .toClient ? (link.server, link.client) : (link.client, link.server)
    var left = limit
    while left > 0 {
      let bytes = Loopback.receive(65_536, from: from)
      if bytes.isEmpty {
        shutdown(to, Int32(SHUT_WR))
        break
      }
      let part = Array(bytes.prefix(left))
      left -= part.count
      // Before the peer can receive them and end the check.
      if isCounted { shared.state.withLock { $0.most = max($0.most, limit - left) } }
      Loopback.send(part, to: to)
    }
    guard link.settle() else { return }
    // A connection that was ended before may end later.
    shared.state.withLock { $0.settled += $0.round == link.round ? 1 : 0 }
  }

  private static func connection(to port: UInt16) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return descriptor }
    close(descriptor)
    return nil
  }
}
