internal import CNetlink
internal import Glibc

/// Sockets on 127.0.0.1 for the peers that these tests play.
public enum Loopback {
  /// The system refused.
  public struct Failure: Error {
    let operation: String
    /// A failure of this operation.
    public init(operation: String) { self.operation = operation }
  }

  /// TCP or UDP.
  public enum Kind: Sendable {
    /// TCP.
    case stream
    /// UDP.
    case datagram
  }

  /// A socket bound to 127.0.0.`host`; port 0 lets the kernel choose.
  public static func bound(
    _ kind: Kind, host: UInt8 = 1, port: UInt16 = 0
  ) throws -> (descriptor: Int32, port: UInt16) {
    let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
    let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(operation: "socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(host)).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
      }
    }
    guard outcome else {
      close(descriptor)
      throw Failure(operation: "bind")
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  /// A port without a listener: bound once, and closed again.
  ///
  /// Below those that the kernel hands out by itself (ip(7), ip_local_port_range), so that no connection takes it meanwhile.
  public static func closedPort() throws -> UInt16 { try closedPorts(1)[0] }

  /// As many different ones.
  public static func closedPorts(_ count: Int) throws -> [UInt16] {
    var found: [(descriptor: Int32, port: UInt16)] = []
    // Bound together, so that none is found twice.
    defer { for (descriptor, _) in found { close(descriptor) } }
    for _ in 0..<100 * count where found.count < count {
      if let one = try? bound(.stream, port: .random(in: 10_000..<32_000)) { found.append(one) }
    }
    guard found.count == count else { throw Failure(operation: "find a free port") }
    return found.map(\.port)
  }

  /// Runs `body` on a thread of its own, which is not joined.
  public static func thread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    pthread_detach(thread)
  }

  /// Sends all of `bytes`, as far as the peer takes them.
  public static func send(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes { buffer in
        unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      if sent <= 0 { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// What the peer sent, up to `count` bytes; empty at its end.
  public static func receive(_ count: Int, from descriptor: Int32) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = unsafe max(0, recv(descriptor, buffer.baseAddress, count, 0))
    }
  }
}

extension Loopback {
  /// A socket that has begun to connect to an address of 127.0.0.0/8, by its last octet, and does not wait for it.
  public static func connecting(to port: UInt16, host: UInt8 = 1) throws -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw Failure(operation: "socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(host)).bigEndian
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        _ = unsafe connect(descriptor, raw, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return descriptor
  }
}
