import TestSupport
import Glibc
import Locks

/// A server that answers every connection with the same bytes, whatever they are.
final class RawHTTPServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let heads = Locked<[String]>([])

  /// The requests seen so far, each up to its empty line.
  var requests: [String] { heads.withLock { $0 } }

  /// `answer` nil: the connection is accepted and never answered.
  init(answer: String?, unixPath: String? = nil) throws {
    if let unixPath {
      listener = try Self.listening(at: unixPath)
      port = 0
    } else {
      (listener, port) = try Loopback.bound(.stream)
    }
    guard listen(listener, 16) == 0 else { throw Loopback.Failure(operation: "listen") }
    Loopback.thread { [weak self, listener] in
      defer { close(listener) }
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        var head = ""
        while !head.contains("\r\n\r\n") {
          let bytes = Loopback.receive(4_096, from: peer)
          if bytes.isEmpty { break }
          head += String(decoding: bytes, as: UTF8.self)
        }
        let seen = head
        self?.heads.withLock { $0.append(seen) }
        guard let answer else { continue }  // held open until the process ends
        Loopback.send(Array(answer.utf8), to: peer)
        close(peer)
      }
    }
  }

  deinit {
    // Closed by the thread alone: here, the number could be another server's before the thread accepts again.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func listening(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let outcome = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe bind(descriptor, raw, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard outcome == 0 else { throw Loopback.Failure(operation: "bind") }
    return descriptor
  }
}
