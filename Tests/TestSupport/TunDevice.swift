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
}
