internal import CAres
internal import CSockets
internal import EventLoop
internal import Glibc
internal import ReachabilityModel

/// A sequence of echo requests to one address, and the evaluation of their replies.
final class ICMPEchoSequence: AddressAttempt {
  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private unowned let connector: AddressConnector
  /// The destination of the requests, as the kernel represents it.
  let peer: SocketPeer
  var wakeTime: MonotonicInstant?
  private let options: ICMPOptions
  private let count: Int
  private var socket: ICMPEchoSocket?
  private var interface: UInt32 = 0
  /// The source address; nil for any.
  private let source: IPAddress?
  private var sent = 0
  private var failures = 0
  private var failure: SocketFailure?
  private var trips = RoundTrips()
  private var hopLimit: Int?
  /// The sequence numbers of its requests, including answered ones.
  var sequences: [UInt16] = []
  private(set) var hasEnded = false

  /// Bytes of payload in each request.
  var payload: Int { options.payloadBytes }

  var destination: ICMPEchoPackets.Destination {
    .init(peer: peer, interface: interface, source: source, payload: payload)
  }

  init(
    _ check: ProberCheck, _ peer: SocketPeer, _ options: ICMPOptions, _ loop: ProberLoop,
    _ connector: AddressConnector
  ) {
    self.check = check
    self.peer = SocketPeer(address: peer.address.unmapped, port: 0, scope: peer.scope)
    source = check.request.source
    self.options = options
    self.loop = loop
    self.connector = connector
    count = min(max(options.count, 1), Limits.echoCount)
  }

  func begin() {
    do throws(SocketFailure) {
      socket = try loop.echoSocket(ipv6: peer.address.family == .ipv6)
    } catch {
      return connector.failed(self, Self.refused(error.code))
    }
    do throws(SocketFailure) {
      try checkBinding()
    } catch {
      return connector.failed(self, error.finding)
    }
    interface = check.request.interface.map { unsafe if_nametoindex($0) } ?? peer.scope
    awake()
  }

  /// Tests whether the interface and the source are available, with a socket of its own as other protocols have.
  ///
  /// For a packet of the shared socket that cannot use them the kernel returns other errors.
  private func checkBinding() throws(SocketFailure) {
    guard check.request.interface != nil || source != nil else { return }
    let family = peer.address.family
    let trial = Glibc.socket(family == .ipv4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue) | ProberSocket.flags, 0)
    guard trial >= 0 else { throw .immediate(errno) }
    defer { close(trial) }
    try ProberSocket.bind(trial, check.request, family: family)
  }

  /// Sends the next request.
  func awake() {
    sent += 1
    socket?.send(self)
    let pause = max(options.spacing, Limits.echoPause)
    connector.wake(self, at: sent < count ? loop.now.advanced(by: pause) : nil)
  }

  func received(_ roundTrip: Duration, hopLimit: Int?, local: IPAddress?) {
    trips.add(roundTrip)
    self.hopLimit = hopLimit ?? self.hopLimit
    // The first reply, which ends the requests to other addresses.
    if trips.count == 1 { connector.succeeded(self) }
    check.source = local ?? check.source
    concludeIfComplete()
  }

  /// Handles a request that could not be sent, or for which an ICMP error was received.
  func failed(_ failure: SocketFailure) {
    failures += 1
    self.failure = failure
    concludeIfComplete()
  }

  private func concludeIfComplete() {
    guard !hasEnded, sent == count, trips.count + failures >= count else { return }
    if trips.count > 0 { loop.conclude(check, verdict()) } else { connector.failed(self, verdict()) }
  }

  func overdue() -> ProberResult { verdict() }

  private func verdict() -> ProberResult {
    check.evidence.icmp = evidence
    guard let average = check.evidence.icmp?.average else {
      return failure?.finding ?? ProberResult(.down, .noReply, detail: "\(sent) echo requests without a reply")
    }
    check.phases.append(CheckResult.Phase(.rtt, average))
    let loss = check.evidence.icmp?.loss ?? 0
    if loss > options.maximumLoss {
      return ProberResult(
        .down, .packetLoss, detail: "\(sent - trips.count) of \(sent) echo requests were lost")
    }
    if let longest = options.maximumRoundTrip, average > longest {
      return ProberResult(.down, .slow, detail: "the average round trip took \(average), more than \(longest)")
    }
    return .up
  }

  private var evidence: CheckResult.ICMP {
    var result = CheckResult.ICMP(sent: sent, received: trips.count)
    guard trips.count > 0 else { return result }
    result.minimum = trips.minimum
    result.maximum = trips.maximum
    result.average = trips.count == 1 ? trips.sum : trips.sum / trips.count
    result.jitter = trips.count > 1 ? trips.steps / (trips.count - 1) : nil
    result.hopLimit = hopLimit
    return result
  }

  func end() {
    hasEnded = true
    socket?.forget(self)
    socket = nil
  }

  /// Why the socket cannot be opened, with a hint.
  private static func refused(_ code: Int32) -> ProberResult {
    guard code == EPERM || code == EACCES else {
      return ProberResult(.unknown, .prohibited, detail: "no ICMP socket: \(SocketFailure.message(code))")
    }
    let hint = "sysctl -w net.ipv4.ping_group_range='0 2147483647', or give this process CAP_NET_RAW"
    return ProberResult(.unknown, .prohibited, detail: "this process may not send ICMP echo; \(hint)")
  }
}

/// Statistics of round trips, without storing each.
private struct RoundTrips {
  var count = 0
  var sum = Duration.zero
  var minimum = Duration.zero
  var maximum = Duration.zero
  /// The sum of the differences between consecutive round trips.
  var steps = Duration.zero
  private var last = Duration.zero

  mutating func add(_ trip: Duration) {
    minimum = count == 0 ? trip : min(minimum, trip)
    maximum = max(maximum, trip)
    if count > 0 { steps += max(trip, last) - min(trip, last) }
    sum += trip
    last = trip
    count += 1
  }
}
