internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Determines what connect(2) does with an IPv6 destination that the kernel has refused without a source address, and which
/// source address a kernel selects that does not report it (gVisor).
///
/// connect(2) does not fail after such a refusal: it selects an address by RFC 6724 and looks up again with it
/// (`ip6_dst_lookup_tail` in net/ipv6/ip6_output.c), so that routes and rules `from` a prefix apply. `RTM_GETROUTE`
/// looks up once. A connected UDP socket follows the same code path and sends nothing.
final class NetlinkSourceAddressLookup {
  /// What a connected socket shows.
  enum Selection: Equatable {
    /// It connects, from this address.
    case source(IPAddress)
    /// The kernel refuses, with this errno.
    case refused(Int32)
    /// There is no socket, or no IPv6 destination.
    case unavailable
  }

  /// Opened once, in the network namespace of the source; nil without IPv6, or if a sandbox forbids it.
  private let descriptor: NetlinkDescriptor?
  /// A socket for IPv4 destinations, which only kernels need that do not report source addresses.
  private lazy var ipv4Descriptor = try? Self.open(AF_INET)

  /// Opens the socket.
  ///
  /// Where IPv6 sockets are refused in general (no IPv6, seccomp(2), SELinux), verdicts are made without this lookup.
  ///
  /// - Throws: a ``KernelError`` for a lack of descriptors or memory; a later attempt may succeed.
  init() throws(KernelError) {
    do throws(KernelError) {
      descriptor = try Self.open(AF_INET6)
    } catch {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errno) { throw error }
      descriptor = nil
    }
  }

  private static func open(_ family: Int32) throws(KernelError) -> NetlinkDescriptor {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return NetlinkDescriptor(Int32(try NetlinkSyscall.check("socket UDP") { socket(family, kind, 0) }))
  }

  /// The address from which a connection to `destination` would be made, or the kernel's refusal.
  ///
  /// - Parameters:
  ///   - destination: an address; an IPv4 address only without an interface.
  ///   - interfaceIndex: the interface that the connection is bound to; nil for any.
  /// - Returns: the selection.
  func selection(towards destination: IPAddress, through interfaceIndex: UInt32? = nil) -> Selection {
    if destination.family == .ipv4 {
      guard interfaceIndex == nil, let ipv4Descriptor else { return .unavailable }
      return connected(ipv4Descriptor, destination)
    }
    guard let descriptor else { return .unavailable }
    guard let interfaceIndex else { return connected(descriptor, destination) }
    // SO_BINDTODEVICE cannot be changed without CAP_NET_RAW; this option selects the interface of a lookup as it does.
    guard setInterface(interfaceIndex, of: descriptor) else { return .unavailable }
    defer { _ = setInterface(0, of: descriptor) }
    return connected(descriptor, destination, scopeID: destination.isLinkLocal ? interfaceIndex : 0)
  }

  private func connected(
    _ descriptor: NetlinkDescriptor, _ destination: IPAddress, scopeID: UInt32 = 0
  ) -> Selection {
    // Any port except zero; nothing is sent there.
    var address = NetlinkPeerAddress(destination, port: 9, scopeID: scopeID)
    let code = connect(descriptor, &address)
    guard code == 0 else { return .refused(code) }
    defer {
      // The source address that was selected for this destination must not be used for the next (connect(2)).
      var unspecified = NetlinkPeerAddress(family: AF_UNSPEC)
      _ = connect(descriptor, &unspecified)
    }
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let named = unsafe address.withSockaddr { unsafe getsockname(descriptor.number, $0, &length) }
    return named == 0 ? address.address.map { .source($0) } ?? .unavailable : .unavailable
  }

  /// Connects, and returns the errno; 0 for success.
  private func connect(_ descriptor: NetlinkDescriptor, _ address: inout NetlinkPeerAddress) -> Int32 {
    let length = address.length
    let result = unsafe address.withSockaddr { address in
      NetlinkSyscall.raw { unsafe Glibc.connect(descriptor.number, address, length) }
    }
    return Int32(-min(result, 0))
  }

  /// Sets the interface of later lookups (ipv6(7), `IPV6_PKTINFO`); 0 for any.
  private func setInterface(_ index: UInt32, of descriptor: NetlinkDescriptor) -> Bool {
    // struct in6_pktinfo: an address, here unspecified, and the index.
    var option = [UInt8](repeating: 0, count: 16)
    unsafe withUnsafeBytes(of: index) { unsafe option.append(contentsOf: $0) }
    return unsafe setsockopt(descriptor.number, Int32(IPPROTO_IPV6), IPV6_PKTINFO, option, socklen_t(option.count)) == 0
  }
}

/// An address of either family in the form that the socket calls take.
private struct NetlinkPeerAddress {
  private var storage = sockaddr_storage()

  /// An address without a host, which ends a connection if its family is AF_UNSPEC.
  init(family: Int32) { storage.ss_family = sa_family_t(family) }

  init(_ address: IPAddress, port: UInt16, scopeID: UInt32) {
    self.init(family: address.family == .ipv4 ? AF_INET : AF_INET6)
    let (offset, octets) = (offset, address.octets)
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
      // sin6_scope_id; sockaddr_in is shorter.
      unsafe bytes.storeBytes(of: scopeID, toByteOffset: 24, as: UInt32.self)
      unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + octets.count]).copyBytes(from: octets)
    }
  }

  /// Where `sin_addr` and `sin6_addr` begin.
  private var offset: Int { Int32(storage.ss_family) == AF_INET ? 4 : 8 }

  var length: socklen_t {
    socklen_t(Int32(storage.ss_family) == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
  }

  /// The address without its port.
  var address: IPAddress? {
    let count = Int32(storage.ss_family) == AF_INET ? 4 : 16
    return unsafe withUnsafeBytes(of: storage) { unsafe IPAddress(octets: Array($0[offset..<offset + count])) }
  }

  mutating func withSockaddr<Result>(_ body: (UnsafeMutablePointer<sockaddr>?) -> Result) -> Result {
    unsafe withUnsafeMutableBytes(of: &storage) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) { unsafe body($0.baseAddress) }
    }
  }
}
