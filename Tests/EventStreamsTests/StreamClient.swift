import Glibc
import TestSupport

/// The client's end of a stream whose other end a hub has adopted.
final class StreamClient: Sendable {
  /// The server's end, which the hub closes.
  let served: Int32
  private let descriptor: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0, &ends) == 0 else {
      throw TestError("socketpair: \(errno)")
    }
    (served, descriptor) = (ends[0], ends[1])
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Closes the sending and the receiving side, as a client that leaves.
  func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Reads until the text ends with `ending`; up to the end of the stream for nil.
  func read(until ending: String? = nil) throws(TestError) -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while ending.map({ !text.suffix($0.utf8.count).elementsEqual($0.utf8) }) ?? true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 { throw TestError("recv: \(errno) after \(String(decoding: text, as: UTF8.self).debugDescription)") }
      if count == 0 {
        guard ending == nil else { throw TestError("the end after \(text.count) bytes") }
        break
      }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }
}
