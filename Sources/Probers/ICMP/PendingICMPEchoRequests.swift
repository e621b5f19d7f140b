internal import EventLoop

/// The echo requests that await their replies, by sequence number.
///
/// Numbers are assigned consecutively, so that a late reply is not mistaken for one to a newer request. The low bits of
/// a number are its index in a table that doubles when it is half full, so that no number is hashed and no entry is
/// moved.
struct PendingICMPEchoRequests {
  struct Request {
    let sequence: UInt16
    let exchange: ICMPEchoSequence
    var sent: MonotonicInstant
    /// The same time in nanoseconds of CLOCK_REALTIME.
    var sentRealtime: Int64 = 0
  }

  private var table: [Request?]
  private var last: UInt16
  private(set) var count = 0

  /// An empty table; the first number is the one after `last`.
  init(after last: UInt16 = .random(in: 0...UInt16.max)) {
    self.last = last
    table = Array(repeating: nil, count: Limits.echoSlots)
  }

  /// Assigns the next free number to a request of an exchange; nil if too many requests are pending.
  mutating func add(_ exchange: ICMPEchoSequence, _ now: MonotonicInstant) -> UInt16? {
    guard count < Limits.echoesOpen else { return nil }
    if count * 2 >= table.count { grow() }
    repeat { last &+= 1 } while table[index(last)] != nil
    table[index(last)] = Request(sequence: last, exchange: exchange, sent: now)
    count += 1
    return last
  }

  /// Corrects the time when a request was sent.
  mutating func setSent(_ sequence: UInt16, _ time: MonotonicInstant, realtime: Int64) {
    let index = index(sequence)
    guard table[index]?.sequence == sequence else { return }
    table[index]?.sent = time
    table[index]?.sentRealtime = realtime
  }

  subscript(sequence: UInt16) -> Request? {
    guard let request = table[index(sequence)], request.sequence == sequence else { return nil }
    return request
  }

  /// Removes a request; nil if it is not pending.
  @discardableResult
  mutating func complete(_ sequence: UInt16) -> Request? {
    guard let request = self[sequence] else { return nil }
    table[index(sequence)] = nil
    count -= 1
    return request
  }

  private func index(_ sequence: UInt16) -> Int { Int(sequence) & (table.count - 1) }

  /// Doubles the table: requests with different indexes keep different ones, because an index in the larger table has
  /// the smaller one's bits.
  private mutating func grow() {
    let requests = table
    table = Array(repeating: nil, count: requests.count * 2)
    for case let request? in requests { table[index(request.sequence)] = request }
  }
}
