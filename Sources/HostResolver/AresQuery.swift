internal import CAres
internal import Glibc

/// The context that c-ares passes from a query to its answer.
final class AresQuery {
  let channel: AresChannel
  let query: UInt64
  let attempt: Int
  let family: AresChannel.Family

  init(channel: AresChannel, query: UInt64, attempt: Int, family: AresChannel.Family) {
    self.channel = channel
    self.query = query
    self.attempt = attempt
    self.family = family
  }
}

/// ARES_OPT_SOCK_STATE_CB: neither reading nor writing means that the socket is about to be closed.
func aresSocketStateCallback(_ context: UnsafeMutableRawPointer?, _ descriptor: Int32, _ read: Int32, _ write: Int32) {
  guard let context = unsafe context else { return }
  let channel = unsafe Unmanaged<AresChannel>.fromOpaque(context).takeUnretainedValue()
  channel.watch(descriptor, reading: read != 0, writing: write != 0)
}

/// ares_sock_config_callback: has a UDP socket report also that a host or network is unreachable, as glibc's resolver does;
/// UDP ignores such ICMP messages by default (ip(7), IP_RECVERR).
func aresConfigureCallback(_ descriptor: Int32, _ type: Int32, _: UnsafeMutableRawPointer?) -> Int32 {
  guard type == Int32(SOCK_DGRAM.rawValue) else { return cares_success }
  // The option of the other family is refused. Without either, c-ares' timeout ends the query.
  var isOn: Int32 = 1
  let length = socklen_t(MemoryLayout<Int32>.size)
  unsafe setsockopt(descriptor, Int32(IPPROTO_IP), Int32(cares_ip_recverr), &isOn, length)
  unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), Int32(cares_ipv6_recverr), &isOn, length)
  return cares_success
}

/// ares_addrinfo_callback: called exactly once for every query.
func aresAddrInfoCallback(
  _ context: UnsafeMutableRawPointer?, _ status: Int32, _ timeouts: Int32, _ list: UnsafeMutablePointer<ares_addrinfo>?
) {
  defer { if let list = unsafe list { unsafe ares_freeaddrinfo(list) } }
  guard let context = unsafe context else { return }
  let question = unsafe Unmanaged<AresQuery>.fromOpaque(context).takeRetainedValue()
  let outcome = unsafe AresResult.outcome(status, list)
  question.channel.collect(
    AresChannel.Answer(
      query: question.query, attempt: question.attempt, family: question.family, outcome: outcome))
}
