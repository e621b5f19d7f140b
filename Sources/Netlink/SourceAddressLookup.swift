internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Asks the kernel from which address it would send to an IPv6 destination that it has refused without one.
///
/// connect(2) does not end with such a refusal: it chooses an address by RFC 6724 and looks again, from there
/// (`ip6_dst_lookup_tail` in net/ipv6/ip6_output.c), so that routes and rules `from` a prefix apply. `RTM_GETROUTE` looks
/// once. A connected UDP socket has gone that way, too, and sends nothing.
final class SourceAddressLookup {
  /// Made once, in the network namespace of those who listen; nil where there is no IPv6, or a sandbox keeps it from us.
  private let descriptor: Descriptor?

  /// Opens the socket.
  ///
  /// Where IPv6 sockets are refused as such (no IPv6, seccomp(2), SELinux), verdicts go without: that is no reason to have none.
  ///
  /// - Throws: a ``KernelError`` for want of descriptors or memory, which may be there with the next try.
  init() throws(KernelError) {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    do throws(KernelError) {
      descriptor = Descriptor(Int32(try Syscall.check("socket UDP") { socket(AF_INET6, kind, 0) }))
    } catch {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errno) { throw error }
      descriptor = nil
    }
  }

  /// The address from which a connection to `destination` would be made; nil when none can be.
  func source(towards destination: IPAddress) -> IPAddress? {
    guard let descriptor, destination.family == .ipv6 else { return nil }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    // Any but zero; nothing is sent there.
    address.sin6_port = in_port_t(9).bigEndian
    unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: destination.octets) }
    guard connect(descriptor, &address) else { return nil }
    defer {
      // What was chosen for this destination must not stay for the next (connect(2)).
      var nobody = sockaddr_in6()
      nobody.sin6_family = sa_family_t(AF_UNSPEC)
      _ = connect(descriptor, &nobody)
    }
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let named = unsafe withUnsafeMutableBytes(of: &address) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor.number, $0.baseAddress, &length)
      }
    }
    guard named == 0 else { return nil }
    return unsafe withUnsafeBytes(of: &address.sin6_addr) { unsafe IPAddress(octets: Array($0)) }
  }

  private func connect(_ descriptor: Descriptor, _ address: inout sockaddr_in6) -> Bool {
    unsafe withUnsafeBytes(of: &address) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr.self) {
        unsafe Glibc.connect(descriptor.number, $0.baseAddress, socklen_t(raw.count))
      }
    } == 0
  }
}
