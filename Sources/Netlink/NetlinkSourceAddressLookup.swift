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
  /// The network namespace of the descriptors.
  private let namespace = NetworkNamespace.current

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

  private static func open(
    _ family: Int32, _ type: __socket_type = SOCK_DGRAM
  ) throws(KernelError) -> NetlinkDescriptor {
    let kind = Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return NetlinkDescriptor(Int32(try NetlinkSyscall.check("socket") { socket(family, kind, 0) }))
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

  /// What a socket shows that is opened for one lookup and bound as the lookup says.
  ///
  /// A socket can be bound to another interface by privileged processes only, so that it cannot be used again. While policy
  /// rules match protocols, it is a TCP socket for lookups of TCP. With TCP_FASTOPEN_NO_COOKIE, connect(2) selects the route and
  /// the source address, and leaves the first packet to the first write (`tcp_fastopen_defer_connect` in
  /// net/ipv4/tcp_fastopen.c).
  ///
  /// - Parameters:
  ///   - query: a lookup for an IPv6 destination.
  ///   - rules: what policy rules match.
  /// - Returns: the selection; unavailable also if this thread is in another namespace than the source.
  func newConnection(for query: RouteQuery, _ rules: NetlinkRuleSelectors) -> Selection {
    guard namespace != nil, namespace == NetworkNamespace.current else { return .unavailable }
    let isTCP = rules.contains(.transport) && query.transport?.protocol ?? .tcp == .tcp
    guard let descriptor = try? Self.open(AF_INET6, isTCP ? SOCK_STREAM : SOCK_DGRAM) else { return .unavailable }
    if isTCP {
      guard Self.set(descriptor, Int32(IPPROTO_TCP), CNetlink_TCP_FASTOPEN_CONNECT, 1),
        Self.set(descriptor, Int32(IPPROTO_TCP), CNetlink_TCP_FASTOPEN_NO_COOKIE, 1)
      else { return .unavailable }
    }
    let scope = query.destination.isLinkLocal ? query.interfaceIndex ?? 0 : 0
    if let index = query.interfaceIndex {
      guard Self.set(descriptor, SOL_SOCKET, CNetlink_SO_BINDTOIFINDEX, Int32(truncatingIfNeeded: index)) else {
        return .unavailable
      }
    }
    if let source = query.source {
      _ = Self.set(descriptor, Int32(IPPROTO_IP), CNetlink_IP_BIND_ADDRESS_NO_PORT, 1)
      var address = NetlinkPeerAddress(source, port: 0, scopeID: source.isLinkLocal ? query.interfaceIndex ?? 0 : 0)
      let length = address.length
      let bound = unsafe address.withSockaddr { unsafe bind(descriptor.number, $0, length) }
      guard bound == 0 else { return .unavailable }
    }
    let selection = connected(descriptor, query.destination, port: query.transport?.port ?? 0, scopeID: scope)
    // No port was left.
    return selection == .refused(EADDRNOTAVAIL) || selection == .refused(EAGAIN) ? .unavailable : selection
  }

  private static func set<Option: BinaryInteger>(
    _ descriptor: NetlinkDescriptor, _ level: Int32, _ option: Option, _ value: Int32
  ) -> Bool {
    var value = value
    let length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe setsockopt(descriptor.number, level, Int32(truncatingIfNeeded: option), &value, length) == 0
  }

  private func connected(
    _ descriptor: NetlinkDescriptor, _ destination: IPAddress, port: UInt16 = 0, scopeID: UInt32 = 0
  ) -> Selection {
    // Any port except zero; nothing is sent there.
    var address = NetlinkPeerAddress(destination, port: port == 0 ? 9 : port, scopeID: scopeID)
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
