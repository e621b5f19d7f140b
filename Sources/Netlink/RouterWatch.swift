internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Which IPv6 routers do not answer, as neighbour events tell (rtnetlink(7), `RTM_NEWNEIGH`).
///
/// The kernel passes over an IPv6 route whose router is in state FAILED and takes the next best, without a route event
/// (`rt6_check_neigh` in net/ipv6/route.c). So does a host whose router fails: nothing but this event tells.
struct RouterWatch {
  private struct Neighbour: Hashable {
    let interfaceIndex: UInt32
    let address: IPAddress
  }

  /// The routers seen so far, and whether they had failed.
  private var hasFailed: [Neighbour: Bool] = [:]

  /// Takes in `RTM_NEWNEIGH` or `RTM_DELNEIGH`.
  ///
  /// - Returns: whether routes may go another way now: a router failed, or does no longer, or is seen for the first time.
  mutating func isChanged(by message: NetlinkMessage) -> Bool {
    // struct ndmsg: family, padding, index, state, flags, type.
    guard let family: UInt8 = message.body.load(0), family == UInt8(AF_INET6),
      let index: UInt32 = message.body.load(4), let state: UInt16 = message.body.load(8)
    else { return false }
    var address: IPAddress?
    message.body.forEachAttribute(from: 12) { type, value in
      if type == Int(NDA_DST) { address = value.address }
    }
    guard let address else { return false }
    let neighbour = Neighbour(interfaceIndex: index, address: address)
    let failed = message.type == RTM_NEWNEIGH && state & UInt16(NUD_FAILED) != 0
    guard hasFailed[neighbour] != failed else { return false }
    // Whoever makes up neighbours by the thousand must not fill our memory; forgetting only costs a reading more.
    if hasFailed.count >= Limits.routers { hasFailed = [:] }
    hasFailed[neighbour] = failed
    return true
  }
}

extension NetlinkSocket {
  /// Has the kernel drop the neighbour events that say nothing about a router, before they wake anybody (socket(7),
  /// `SO_ATTACH_FILTER`): a busy link has thousands a minute.
  ///
  /// What passes: everything else, and of IPv6 neighbours those that are routers (NTF_ROUTER) or have failed.
  func dropHostNeighbours() throws(KernelError) {
    // Loads are in network order, the message is in host order: the constants are swapped instead.
    func swapped(_ number: some BinaryInteger) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: number).byteSwapped) }
    let (load16, load8) = (UInt16(BPF_LD | BPF_H | BPF_ABS), UInt16(BPF_LD | BPF_B | BPF_ABS))
    let (equal, anySet) = (UInt16(BPF_JMP | BPF_JEQ | BPF_K), UInt16(BPF_JMP | BPF_JSET | BPF_K))
    let end = UInt16(BPF_RET | BPF_K)
    // nlmsghdr has 16 bytes, its type at 4; struct ndmsg its state at 8 and its flags at 10.
    var program = [
      sock_filter(code: load16, jt: 0, jf: 0, k: 4),
      sock_filter(code: equal, jt: 1, jf: 0, k: swapped(RTM_NEWNEIGH)),
      sock_filter(code: equal, jt: 0, jf: 6, k: swapped(RTM_DELNEIGH)),
      sock_filter(code: load8, jt: 0, jf: 0, k: 16),
      sock_filter(code: equal, jt: 0, jf: 5, k: UInt32(AF_INET6)),
      sock_filter(code: load8, jt: 0, jf: 0, k: 26),
      sock_filter(code: anySet, jt: 2, jf: 0, k: UInt32(NTF_ROUTER)),
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
