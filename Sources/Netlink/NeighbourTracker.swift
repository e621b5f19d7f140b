internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Which IPv6 neighbours do not answer, as neighbour events tell (rtnetlink(7), `RTM_NEWNEIGH`).
///
/// The kernel passes over an IPv6 route whose router is in state FAILED and takes the next best, without a route event
/// (`rt6_check_neigh` in net/ipv6/route.c). So does a host whose router fails: nothing but this event tells. Whether a
/// neighbour is a router is not asked: one that a person wrote into a route need not call itself so.
struct NeighbourTracker {
  struct Neighbour: Hashable {
    let interfaceIndex: UInt32
    let address: IPAddress
  }

  private var failed: Set<Neighbour>

  /// Begins with the neighbours that have failed.
  init(failed: Set<Neighbour> = []) { self.failed = Set(failed.prefix(Limits.failedNeighbours)) }

  /// True while a neighbour does not answer: then the events of those that do are of interest, too.
  var hasFailures: Bool { !failed.isEmpty }

  /// Takes in `RTM_NEWNEIGH` or `RTM_DELNEIGH`.
  ///
  /// - Returns: whether routes may go another way now: a neighbour has failed, or does no longer.
  mutating func isChanged(by message: NetlinkMessage) -> Bool {
    guard let (neighbour, hasFailed) = Self.state(message) else { return false }
    // Whoever makes neighbours fail by the thousand must not fill our memory; any of them may be one that did not fit.
    let isFull = failed.count >= Limits.failedNeighbours
    guard hasFailed else { return failed.remove(neighbour) != nil || isFull }
    return isFull ? !failed.contains(neighbour) : failed.insert(neighbour).inserted
  }

  /// The IPv6 neighbour of a message, and whether it has failed; nil for any other.
  static func state(_ message: NetlinkMessage) -> (Neighbour, hasFailed: Bool)? {
    // struct ndmsg: family, padding, index, state, flags, type.
    guard let family: UInt8 = message.body.load(0), family == UInt8(AF_INET6),
      let index: UInt32 = message.body.load(4), let state: UInt16 = message.body.load(8)
    else { return nil }
    var address: IPAddress?
    message.body.forEachAttribute(from: 12) { type, value in
      if type == Int(NDA_DST) { address = value.address }
    }
    guard let address else { return nil }
    let hasFailed = message.type == RTM_NEWNEIGH && state & UInt16(NUD_FAILED) != 0
    return (Neighbour(interfaceIndex: index, address: address), hasFailed)
  }
}

extension QuerySocket {
  /// Reads which IPv6 neighbours have failed.
  func failedNeighbours() throws(KernelError) -> Set<NeighbourTracker.Neighbour> {
    var failed: Set<NeighbourTracker.Neighbour> = []
    try dump("dump RTM_GETNEIGH", RTM_GETNEIGH) { request in
      // struct ndmsg, all zero but the family.
      request.append(UInt32(AF_INET6))
      request.append(UInt64(0))
    } restart: {
      failed.removeAll(keepingCapacity: true)
    } body: { message in
      if let (neighbour, hasFailed) = NeighbourTracker.state(message), hasFailed { failed.insert(neighbour) }
      return true
    }
    return failed
  }
}

extension NetlinkSocket {
  /// Which neighbour events the kernel lets through.
  enum NeighbourFilter {
    /// IPv6 neighbours that have failed.
    case failed
    /// All of IPv6.
    case all
  }

  /// Has the kernel drop neighbour events before they wake anybody (socket(7), `SO_ATTACH_FILTER`).
  ///
  /// A busy link has thousands a minute. Everything else passes. Replaces the filter before.
  func filterNeighbours(_ filter: NeighbourFilter) throws(KernelError) {
    // Loads are in network order, the message is in host order: the constants are swapped instead.
    func swapped(_ number: some BinaryInteger) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: number).byteSwapped) }
    let (load16, load8) = (UInt16(BPF_LD | BPF_H | BPF_ABS), UInt16(BPF_LD | BPF_B | BPF_ABS))
    let (equal, anySet) = (UInt16(BPF_JMP | BPF_JEQ | BPF_K), UInt16(BPF_JMP | BPF_JSET | BPF_K))
    let end = UInt16(BPF_RET | BPF_K)
    // nlmsghdr has 16 bytes, its type at 4; struct ndmsg its state at 8.
    var program = [
      sock_filter(code: load16, jt: 0, jf: 0, k: 4),
      sock_filter(code: equal, jt: 1, jf: 0, k: swapped(RTM_NEWNEIGH)),
      sock_filter(code: equal, jt: 0, jf: 4, k: swapped(RTM_DELNEIGH)),
      sock_filter(code: load8, jt: 0, jf: 0, k: 16),
      sock_filter(code: equal, jt: filter == .all ? 2 : 0, jf: 3, k: UInt32(AF_INET6)),
      sock_filter(code: load16, jt: 0, jf: 0, k: 24),
      sock_filter(code: anySet, jt: 0, jf: 1, k: swapped(NUD_FAILED)),
      sock_filter(code: end, jt: 0, jf: 0, k: UInt32.max),
      sock_filter(code: end, jt: 0, jf: 0, k: 0),
    ]
    try unsafe program.withUnsafeMutableBufferPointer { (buffer) throws(KernelError) in
      let filter = unsafe sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
      try unsafe set("setsockopt SO_ATTACH_FILTER", SOL_SOCKET, SO_ATTACH_FILTER, filter)
    }
  }
}
