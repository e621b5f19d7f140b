internal import CNetlink
internal import Glibc

/// A TUN device that lives as long as this object, with a hardware type and a carrier of our choice.
///
/// With type 519 it looks like a cellular modem, with 512 like a PPP link.
public final class TunDevice: Sendable {
  /// The interface's name.
  public let name: String
  private let file: Int32

  /// Whether this process may make TUN devices.
  public static let isSupported: Bool = unsafe access("/dev/net/tun", R_OK | W_OK) == 0 && Namespace.isSupported

  /// Makes a device inside a namespace; it is switched off.
  ///
  /// - Parameters:
  ///   - name: the interface's name.
  ///   - hardwareType: an ARPHRD number; nil for the usual one of TUN devices (65534).
  ///   - namespace: where.
  /// - Throws: a ``TestError`` without the privilege, see ``isSupported``.
  public init(_ name: String, hardwareType: UInt16? = nil, in namespace: Namespace) throws(TestError) {
    self.name = name
    file = try namespace.run { () throws(TestError) in
      let file = unsafe open("/dev/net/tun", O_RDWR | O_CLOEXEC)
      guard file >= 0 else { throw .system("open /dev/net/tun") }
      // struct ifreq: 16 bytes of name, then the flags; IFF_TUN | IFF_NO_PI.
      var request = [UInt8](repeating: 0, count: 40)
      for (index, byte) in name.utf8.prefix(15).enumerated() { request[index] = byte }
      let flags = UInt16(IFF_TUN | IFF_NO_PI)
      request[16] = UInt8(truncatingIfNeeded: flags.littleEndian)
      request[17] = UInt8(truncatingIfNeeded: flags.littleEndian >> 8)
      guard unsafe CNetlink_ioctl(file, CNetlink_TUNSETIFF(), &request) == 0 else {
        defer { close(file) }
        throw .system("TUNSETIFF \(name)")
      }
      if let hardwareType {
        let argument = unsafe UnsafeMutableRawPointer(bitPattern: UInt(hardwareType))
        guard unsafe CNetlink_ioctl(file, CNetlink_TUNSETLINK(), argument) == 0 else {
          defer { close(file) }
          throw .system("TUNSETLINK \(hardwareType)")
        }
      }
      return file
    }
  }

  deinit { close(file) }

  /// Raises or drops the carrier.
  public func setCarrier(_ isUp: Bool) throws(TestError) {
    var value: Int32 = isUp ? 1 : 0
    guard unsafe CNetlink_ioctl(file, CNetlink_TUNSETCARRIER(), &value) == 0 else { throw .system("TUNSETCARRIER") }
  }

  /// Answers IPv4 packets on a thread of its own by ICMP errors (RFC 792, type 3), as a router behind the device would.
  ///
  /// - Parameters:
  ///   - code: the ICMP code.
  ///   - count: the number of packets to answer.
  public func refuse(code: UInt8, count: Int) {
    Loopback.thread { [self] in
      var packet = [UInt8](repeating: 0, count: 2048)
      var answered = 0
      while answered < count {
        let length = unsafe Glibc.read(file, &packet, packet.count)
        guard length >= 28 else { return }
        // The device itself sends IPv6 packets, too.
        guard packet[0] >> 4 == 4 else { continue }
        let answer = Self.unreachable(packet.prefix(length), code)
        guard unsafe Glibc.write(file, answer, answer.count) == answer.count else { return }
        answered += 1
      }
    }
  }

  /// The ICMP error for a packet, from its destination.
  private static func unreachable(_ packet: ArraySlice<UInt8>, _ code: UInt8) -> [UInt8] {
    var message: [UInt8] = [3, code, 0, 0, 0, 0, 0, 0] + packet.prefix(28)
    (message[2], message[3]) = checksum(message)
    let length = UInt8(20 + message.count)
    var header: [UInt8] = [0x45, 0, 0, length, 0, 0, 0, 0, 64, 1, 0, 0] + packet[16..<20] + packet[12..<16]
    (header[10], header[11]) = checksum(header)
    return header + message
  }

  /// RFC 1071.
  private static func checksum(_ bytes: [UInt8]) -> (UInt8, UInt8) {
    var sum = UInt32(0)
    for index in stride(from: 0, to: bytes.count - 1, by: 2) {
      sum += UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
    }
    while sum >> 16 != 0 { sum = sum & 0xffff + sum >> 16 }
    let result = ~UInt16(truncatingIfNeeded: sum)
    return (UInt8(result >> 8), UInt8(result & 0xff))
  }
}
