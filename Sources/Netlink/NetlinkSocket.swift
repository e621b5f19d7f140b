internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// A NETLINK_ROUTE socket with its receive buffer; used by one thread at a time (netlink(7)).
@safe final class NetlinkSocket {
  enum Received {
    /// A datagram from the kernel; valid until the next receive.
    case datagram(NetlinkBytes)
    /// No datagram is queued, or none arrived before the timeout.
    case nothing
    /// The kernel dropped messages because the socket's buffer was full, or a message was longer than our buffer.
    case lost
  }

  private let descriptor: NetlinkDescriptor
  private var buffer: UnsafeMutableRawBufferPointer

  /// Whether refusals have the kernel's text (`NETLINK_EXT_ACK`).
  private(set) var hasErrorTexts = false

  /// The descriptor's number, for epoll.
  var number: Int32 { descriptor.number }

  /// Opens a socket that is a member of no group.
  ///
  /// - Parameters:
  ///   - bufferBytes: the requested receive buffer; the kernel's limit applies if it is smaller.
  ///   - timeout: how long a blocking receive may take; nil for no limit.
  /// - Throws: a ``KernelError`` when the kernel refuses.
  init(bufferBytes: Int, timeout: Duration? = nil) throws(KernelError) {
    let opened = try NetlinkSyscall.check("socket NETLINK_ROUTE") {
      socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), NETLINK_ROUTE)
    }
    descriptor = NetlinkDescriptor(Int32(opened))
    unsafe buffer = .allocate(byteCount: Limits.datagram, alignment: 16)
    setOptions(timeout)
    setReceiveBuffer(Int32(clamping: bufferBytes))
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    try NetlinkSyscall.check("bind") {
      unsafe withUnsafeBytes(of: &address) { raw in
        unsafe raw.withMemoryRebound(to: sockaddr.self) { unsafe bind(number, $0.baseAddress, socklen_t(raw.count)) }
      }
    }
  }

  deinit { unsafe buffer.deallocate() }

  /// Sets the options that make answers more exact; sandboxes such as gVisor know none of them.
  private func setOptions(_ timeout: Duration?) {
    // Without strict checking the kernel silently ignores filters and unknown fields.
    try? set("setsockopt NETLINK_GET_STRICT_CHK", SOL_NETLINK, NETLINK_GET_STRICT_CHK, Int32(1))
    // Without error texts an invalid request cannot be distinguished from a blackhole route: both are EINVAL.
    hasErrorTexts = (try? set("setsockopt NETLINK_EXT_ACK", SOL_NETLINK, NETLINK_EXT_ACK, Int32(1))) != nil
    // Only the header of a failed request is needed; a longer refusal is decoded, too.
    try? set("setsockopt NETLINK_CAP_ACK", SOL_NETLINK, NETLINK_CAP_ACK, Int32(1))
    guard let timeout else { return }
    // A kernel that answers within sendto(2), as they all do, needs no timeout.
    let (seconds, attoseconds) = timeout.components
    let limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    try? set("setsockopt SO_RCVTIMEO", SOL_SOCKET, SO_RCVTIMEO, limit)
    try? set("setsockopt SO_SNDTIMEO", SOL_SOCKET, SO_SNDTIMEO, limit)
  }

  func set(_ operation: String, _ level: Int32, _ option: Int32, _ value: some BitwiseCopyable)
    throws(KernelError)
  {
    var value = value
    try NetlinkSyscall.check(operation) {
      unsafe withUnsafeBytes(of: &value) {
        unsafe setsockopt(number, level, option, $0.baseAddress, socklen_t($0.count))
      }
    }
  }

  /// Sets the receive buffer: any size with CAP_NET_ADMIN, else at most net.core.rmem_max, to which the kernel caps it
  /// silently.
  private func setReceiveBuffer(_ bytes: Int32) {
    do throws(KernelError) {
      try set("setsockopt SO_RCVBUFFORCE", SOL_SOCKET, SO_RCVBUFFORCE, bytes)
    } catch {
      // A small buffer loses events earlier, but the loss is detected and corrected: that is not an error.
      try? set("setsockopt SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, bytes)
    }
  }

  /// Joins a multicast group.
  ///
  /// - Throws: EPERM, EOPNOTSUPP or similar in sandboxes without rtnetlink events.
  func join(_ group: rtnetlink_groups) throws(KernelError) {
    try set("join group \(group.rawValue)", SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, Int32(group.rawValue))
  }

  func send(_ request: NetlinkRequest) throws(KernelError) {
    let sent = NetlinkSyscall.raw { () -> Int in
      unsafe request.bytes.withUnsafeBytes { unsafe Glibc.send(number, $0.baseAddress, $0.count, 0) }
    }
    guard sent >= 0 else { throw KernelError("send", errno: Int32(-sent)) }
  }

  /// Receives one datagram from the kernel; datagrams from other processes are dropped.
  ///
  /// - Parameter blocking: whether to wait, up to the socket's timeout.
  /// - Returns: the datagram, or why there is none.
  /// - Throws: a ``KernelError`` for anything but an empty queue and lost messages.
  func receive(blocking: Bool) throws(KernelError) -> Received {
    while true {
      var sender = sockaddr_nl()
      let received = receive(flags: Int32(MSG_TRUNC) | (blocking ? 0 : Int32(MSG_DONTWAIT)), &sender)
      switch -received {
      case Int(EAGAIN): return .nothing
      case Int(ENOBUFS): return .lost
      case 1...: throw KernelError("recv", errno: Int32(-received))
      default: break
      }
      // Any process may send to our port (netlink(7)); only the kernel has port 0.
      guard sender.nl_pid == 0 else { continue }
      guard unsafe received <= buffer.count else {
        // The rest of the datagram is lost; the next one of that size will fit.
        grow(to: received)
        return .lost
      }
      return unsafe .datagram(
        NetlinkBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<received])))
    }
  }

  private func receive(flags: Int32, _ sender: inout sockaddr_nl) -> Int {
    var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
    return NetlinkSyscall.raw { () -> Int in
      unsafe withUnsafeMutableBytes(of: &sender) { raw in
        unsafe raw.withMemoryRebound(to: sockaddr.self) {
          unsafe recvfrom(number, buffer.baseAddress, buffer.count, flags, $0.baseAddress, &length)
        }
      }
    }
  }

  private func grow(to size: Int) {
    guard size <= Limits.largestDatagram else { return }
    unsafe buffer.deallocate()
    unsafe buffer = .allocate(byteCount: (size + 4095) & ~4095, alignment: 16)
  }

  /// Reads and clears the error that epoll reports (socket(7), `SO_ERROR`); 0 when there is none.
  func takeError() -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = NetlinkSyscall.raw { unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    return result < 0 ? Int32(-result) : code
  }
}
