internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Determines what connect(2) does with an IPv6 destination that the kernel has refused without a source address.
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

  /// Opens the socket.
  ///
  /// Where IPv6 sockets are refused in general (no IPv6, seccomp(2), SELinux), verdicts are made without this lookup.
  ///
  /// - Throws: a ``KernelError`` for a lack of descriptors or memory; a later attempt may succeed.
  init() throws(KernelError) {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    do throws(KernelError) {
      descriptor = NetlinkDescriptor(Int32(try NetlinkSyscall.check("socket UDP") { socket(AF_INET6, kind, 0) }))
    } catch {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errno) { throw error }
      descriptor = nil
    }
  }

  /// The address from which a connection to `destination` would be made, or the kernel's refusal.
  ///
  /// - Parameters:
  ///   - destination: an IPv6 address.
  ///   - interfaceIndex: the interface that the connection is bound to; nil for any.
  /// - Returns: the selection.
  func selection(towards destination: IPAddress, through interfaceIndex: UInt32? = nil) -> Selection {
    guard let descriptor, destination.family == .ipv6 else { return .unavailable }
    guard let interfaceIndex else { return connected(descriptor, destination) }
    // SO_BINDTODEVICE cannot be changed without CAP_NET_RAW; this option selects the interface of a lookup as it does.
    guard setInterface(interfaceIndex, of: descriptor) else { return .unavailable }
    defer { _ = setInterface(0, of: descriptor) }
    return connected(descriptor, destination)
  }

  private func connected(_ descriptor: NetlinkDescriptor, _ destination: IPAddress) -> Selection {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    // Any port except zero; nothing is sent there.
    address.sin6_port = in_port_t(9).bigEndian
    unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: destination.octets) }
    let code = connect(descriptor, &address)
    guard code == 0 else { return .refused(code) }
    defer {
      // The source address that was selected for this destination must not be used for the next (connect(2)).
      var unspecified = sockaddr_in6()
      unspecified.sin6_family = sa_family_t(AF_UNSPEC)
      _ = connect(descriptor, &unspecified)
    }
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let named = unsafe withUnsafeMutableBytes(of: &address) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor.number, $0.baseAddress, &length)
      }
    }
    guard named == 0 else { return .unavailable }
    let own = unsafe withUnsafeBytes(of: &address.sin6_addr) { unsafe IPAddress(octets: Array($0)) }
    return own.map { .source($0) } ?? .unavailable
  }

  /// Connects, and returns the errno; 0 for success.
  private func connect(_ descriptor: NetlinkDescriptor, _ address: inout sockaddr_in6) -> Int32 {
    let result = unsafe withUnsafeBytes(of: &address) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) { bound in
        NetlinkSyscall.raw {
          unsafe Glibc.connect(descriptor.number, bound.baseAddress, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
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
