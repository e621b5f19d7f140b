import Dispatch
import Glibc
import Locks
import TestSupport

/// A name server on 127.0.0.1 that knows one name, as long as it lives, and says of all others that they do not exist.
final class NameServer {
  /// What the one name resolves to.
  private final class Answer: Sendable {
    let octets: Locked<[UInt8]>
    init(_ octets: [UInt8]) { self.octets = Locked(octets) }
  }

  let address: String
  private let answer: Answer
  private let source: any DispatchSourceRead

  /// Begins to answer for a name with an IPv4 address.
  ///
  /// - Throws: a ``TestError`` without a socket.
  init(_ name: String, _ octets: [UInt8]) throws(TestError) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var own = sockaddr_in()
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &own) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
      }
    }
    guard isBound else { throw TestError("no socket for the name server") }
    address = "127.0.0.1:\(UInt16(bigEndian: own.sin_port))"
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "names"))
    let answer = Answer(octets)
    self.answer = answer
    source.setEventHandler { Self.serve(descriptor, name, answer.octets.withLock(\.self)) }
    source.setCancelHandler { close(descriptor) }
    source.resume()
  }

  deinit { source.cancel() }

  /// From now on the name has another address.
  func change(to octets: [UInt8]) { answer.octets.withLock { $0 = octets } }

  private static func serve(_ descriptor: Int32, _ name: String, _ octets: [UInt8]) {
    var peer = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &peer) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        let query = unsafe [UInt8](unsafeUninitializedCapacity: 1500) { buffer, filled in
          filled = unsafe max(0, recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, raw, &length))
        }
        guard let answer = answer(to: query, name, octets) else { return }
        _ = unsafe sendto(descriptor, answer, answer.count, 0, raw, length)
      }
    }
  }

  /// The answer by RFC 1035 §4.1: the question again, with at most one record.
  private static func answer(to query: [UInt8], _ name: String, _ octets: [UInt8]) -> [UInt8]? {
    let labels: [UInt8] = name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    guard query.count > 12, let end = query[12...].firstIndex(of: 0), end + 5 <= query.count else { return nil }
    let asked = String(decoding: query[12...end], as: UTF8.self).lowercased()
    let isKnown = asked == String(decoding: labels, as: UTF8.self)
    let wantsIPv4 = query[end + 1] == 0 && query[end + 2] == 1
    let hasRecord = isKnown && wantsIPv4
    // QR, AA, RD; RA and the code: 0 for success, 3 for no such name.
    var answer: [UInt8] = [query[0], query[1], 0x85, isKnown ? 0x80 : 0x83, 0, 1, 0, hasRecord ? 1 : 0, 0, 0, 0, 0]
    answer += query[12..<(end + 5)]
    // A pointer to the name, type A, class IN, 60 seconds.
    if hasRecord { answer += [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + octets }
    return answer
  }
}
