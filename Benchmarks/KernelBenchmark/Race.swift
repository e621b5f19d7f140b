import CNetlink
import Glibc
import NetworkReachability

/// The flush race: a link is set down.
///
/// The kernel reports that before it flushes the default route, and flushes without
/// an event. The verdict must become right, because no later event would correct it.
///
/// The link is `c0` and has 10.9.0.2/24; the default route has the gateway 10.9.0.1.
struct Race {
  private let socket: Int32
  private let index: UInt32

  init() throws {
    socket = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), NETLINK_ROUTE)
    index = unsafe if_nametoindex("c0")
    guard socket >= 0, index > 0 else { throw NaiveLookups.Failure("c0") }
  }

  /// Makes one change and waits for its acknowledgement.
  private func change(_ type: Int, flags: Int32, _ body: [UInt8]) throws {
    var bytes: [UInt8] = []
    func append(_ number: some FixedWidthInteger) {
      for shift in stride(from: 0, to: number.bitWidth, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    append(UInt32(16 + body.count))
    append(UInt16(type))
    append(UInt16(NLM_F_REQUEST | NLM_F_ACK | flags))
    append(UInt64(1))
    bytes += body
    let sent = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, 0) }
    var answer = [UInt8](repeating: 0, count: 4096)
    guard sent == bytes.count, unsafe recv(socket, &answer, answer.count, 0) >= 20, answer[16..<20] == [0, 0, 0, 0]
    else {
      throw NaiveLookups.Failure("change \(type)")
    }
  }

  private func number(_ value: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  private func setLink(up: Bool) throws {
    // struct ifinfomsg: family, type, index, flags, change.
    try change(RTM_NEWLINK, flags: 0, number(0) + number(index) + number(up ? 1 : 0) + number(1))
  }

  private func addDefault() throws {
    // struct rtmsg: main table, static, universe, unicast; gateway and device.
    try change(
      RTM_NEWROUTE, flags: Int32(NLM_F_CREATE | NLM_F_REPLACE),
      [UInt8(AF_INET), 0, 0, 0, 254, 4, 0, 1] + number(0) + [8, 0, 5, 0, 10, 9, 0, 1] + [8, 0, 4, 0] + number(index))
  }

  /// Runs `trials` trials and prints in how many the verdict stayed wrong: for a second without events.
  func run(trials: Int) throws {
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try setLink(up: true)
    try addDefault()
    try monitor.start()
    var wrong = 0
    let begin = now()
    for _ in 0..<trials {
      try setLink(up: false)
      if !becomes(false, monitor) { wrong += 1 }
      try setLink(up: true)
      try addDefault()
      guard becomes(true, monitor, seconds: 30) else { throw NaiveLookups.Failure("the way did not come back") }
    }
    print("\(wrong) wrong of \(trials) trials in \((now() - begin) / 1_000_000_000) s")
    monitor.stop()
  }

  private func becomes(_ isReachable: Bool, _ monitor: ReachabilityMonitor, seconds: Int64 = 1) -> Bool {
    let limit = now() + seconds * 1_000_000_000
    while monitor.snapshot.status.isReachable != isReachable {
      if now() > limit { return false }
      usleep(20)
    }
    return true
  }
}
