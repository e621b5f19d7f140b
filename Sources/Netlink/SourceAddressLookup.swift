internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Determines the source address for an IPv6 destination that the kernel has refused without one.
///
/// connect(2) does not fail after such a refusal: it selects an address by RFC 6724 and looks up again with it
/// (`ip6_dst_lookup_tail` in net/ipv6/ip6_output.c), so that routes and rules `from` a prefix apply. `RTM_GETROUTE`
/// looks up once. A connected UDP socket follows the same code path and sends nothing.
final class SourceAddressLookup {
  /// Opened once, in the network namespace of the source; nil without IPv6, or if a sandbox forbids it.
  private let descriptor: Descriptor?

  /// Opens the socket.
  ///
  /// Where IPv6 sockets are refused in general (no IPv6, seccomp(2), SELinux), verdicts are made without this lookup.
  ///
  /// - Throws: a ``KernelError`` for a lack of descriptors or memory; a later attempt may succeed.
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
    // Any port except zero; nothing is sent there.
    address.sin6_port = in_port_t(9).bigEndian
    unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: destination.octets) }
    guard connect(descriptor, &address) else { return nil }
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
