internal import CAres

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
