internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// The IPv6 neighbours that do not respond, according to neighbour events (rtnetlink(7), `RTM_NEWNEIGH`).
///
/// The kernel skips an IPv6 route whose router is in state FAILED and takes the next best route, without a route event
/// (`rt6_check_neigh` in net/ipv6/route.c). Only the neighbour event shows this. The router flag is not tested, because
/// a router in a static route need not announce itself as one.
struct NetlinkNeighbourTracker {
  struct Neighbour: Hashable {
    let interfaceIndex: UInt32
    let address: IPAddress
  }

  private var failed: Set<Neighbour>

  /// Starts with the neighbours that have failed.
  init(failed: Set<Neighbour> = []) { self.failed = Set(failed.prefix(Limits.failedNeighbours)) }

  /// True while a neighbour does not respond: the events of reachable neighbours are needed too.
  var hasFailures: Bool { !failed.isEmpty }

  /// Records `RTM_NEWNEIGH` or `RTM_DELNEIGH`.
  ///
  /// - Returns: whether routes may have changed: a neighbour has failed, or has recovered.
  mutating func isChanged(by message: NetlinkMessage) -> Bool {
    guard let (neighbour, hasFailed) = Self.state(message) else { return false }
    // A peer that makes thousands of neighbours fail must not exhaust memory; any of them may be one that was not
    // stored.
    let isFull = failed.count >= Limits.failedNeighbours
    guard hasFailed else { return failed.remove(neighbour) != nil || isFull }
    return isFull ? !failed.contains(neighbour) : failed.insert(neighbour).inserted
  }

  /// Replaces the neighbours by those that were read.
  ///
  /// - Returns: whether routes may have changed.
  mutating func update(to read: Set<Neighbour>) -> Bool {
    let old = failed
    failed = Set(read.prefix(Limits.failedNeighbours))
    // Of too many, any may have been stored before.
    return !old.isSubset(of: read) || read.count <= Limits.failedNeighbours && old.count != read.count
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

extension NetlinkQuerySocket {
  /// Reads the IPv6 neighbours that have failed.
  func failedNeighbours() throws(KernelError) -> Set<NetlinkNeighbourTracker.Neighbour> {
    var failed: Set<NetlinkNeighbourTracker.Neighbour> = []
    do throws(KernelError) {
      try dump("dump RTM_GETNEIGH", RTM_GETNEIGH) { request in
        // struct ndmsg, all zero except the family.
        request.append(UInt32(AF_INET6))
        request.append(UInt64(0))
      } restart: {
        failed.removeAll(keepingCapacity: true)
      } body: { message in
        if let (neighbour, hasFailed) = NetlinkNeighbourTracker.state(message), hasFailed { failed.insert(neighbour) }
        return true
      }
    } catch {
      // A kernel without neighbour tables has none.
      guard error.errno == EOPNOTSUPP else { throw error }
    }
    return failed
  }
}

extension NetlinkSocket {
  /// The neighbour events that the kernel passes.
  enum NeighbourFilter {
    /// IPv6 neighbours that have failed.
    case failed
    /// All IPv6 neighbours.
    case all
  }

  /// Makes the kernel drop neighbour events before they wake the thread (socket(7), `SO_ATTACH_FILTER`).
  ///
  /// A busy link has thousands a minute. All other events pass. The filter replaces an earlier one.
  func filterNeighbours(_ filter: NeighbourFilter) throws(KernelError) {
    // Loads are in network order and the message is in host order, so the constants are swapped.
    func swapped(_ number: some BinaryInteger) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: number).byteSwapped) }
    let (load16, load8) = (UInt16(BPF_LD | BPF_H | BPF_ABS), UInt16(BPF_LD | BPF_B | BPF_ABS))
    let (equal, anySet) = (UInt16(BPF_JMP | BPF_JEQ | BPF_K), UInt16(BPF_JMP | BPF_JSET | BPF_K))
    let end = UInt16(BPF_RET | BPF_K)
    // nlmsghdr has 16 bytes, with the type at offset 4; struct ndmsg has the state at offset 8.
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
