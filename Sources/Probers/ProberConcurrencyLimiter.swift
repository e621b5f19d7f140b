internal import DequeModule
internal import ReachabilityModel

/// Limits the number of concurrent checks, in total and per address; the others wait in order.
///
/// It counts the running checks and stores the identifiers of the waiting ones.
struct ProberConcurrencyLimiter {
  enum Admission: Equatable {
    case granted, queued
    /// Too many checks are waiting.
    case refused
  }

  private struct Waiter {
    let id: UInt64
    let address: IPAddress?
  }

  private let capacity: Int
  private let perAddress: Int
  private let queueLimit: Int
  private var running = 0
  private var runningAt: [IPAddress: Int] = [:]
  /// The checks that wait only for the total limit.
  private var queue: Deque<Waiter> = []
  /// The checks that wait for an address.
  private var addressQueues: [IPAddress: Deque<UInt64>] = [:]
  private var waiting = 0

  init(capacity: Int, perAddress: Int, queueLimit: Int) {
    self.capacity = capacity
    self.perAddress = perAddress
    self.queueLimit = queueLimit
  }

  /// Requests a slot; without an address only the capacity is checked.
  mutating func acquire(_ id: UInt64, _ address: IPAddress? = nil) -> Admission {
    if running < capacity, queue.isEmpty, count(in: address) { return .granted }
    guard waiting < queueLimit else { return .refused }
    waiting += 1
    enqueue(Waiter(id: id, address: address))
    return .queued
  }

  /// Takes a slot only if it is free and no check waits.
  mutating func acquireIfFree(_ address: IPAddress) -> Bool {
    running < capacity && queue.isEmpty && count(in: address)
  }

  /// Releases a slot, and grants the free slots to waiting checks.
  ///
  /// - Parameters:
  ///   - address: the address that the slot was requested for.
  ///   - isWaiting: false for a check that was cancelled while it waited.
  /// - Returns: the checks that have a slot now.
  mutating func release(_ address: IPAddress? = nil, isWaiting: (UInt64) -> Bool) -> [UInt64] {
    count(out: address)
    promote(address)
    var granted: [UInt64] = []
    while running < capacity, let waiter = queue.popFirst() {
      guard isWaiting(waiter.id) else {
        waiting -= 1
        // This check was also the next one for its address.
        promote(waiter.address)
        continue
      }
      guard count(in: waiter.address) else {
        enqueue(waiter)
        continue
      }
      waiting -= 1
      granted.append(waiter.id)
    }
    // Frees the storage of a burst.
    if queue.isEmpty { queue = [] }
    return granted
  }

  private func hasRoom(_ address: IPAddress?) -> Bool {
    guard let address else { return true }
    return runningAt[address, default: 0] < perAddress
  }

  private mutating func enqueue(_ waiter: Waiter) {
    if let address = waiter.address, !hasRoom(address) {
      addressQueues[address, default: []].append(waiter.id)
    } else {
      queue.append(waiter)
    }
  }

  /// Moves the next check that waits for an address to the common queue.
  private mutating func promote(_ address: IPAddress?) {
    guard !addressQueues.isEmpty, let address, let next = addressQueues[address]?.popFirst() else { return }
    if addressQueues[address]?.isEmpty == true { addressQueues[address] = nil }
    queue.append(Waiter(id: next, address: address))
  }

  /// Counts one more running check; false if the limit of its address is reached.
  private mutating func count(in address: IPAddress?) -> Bool {
    // One dictionary access, because every check executes this code.
    if let address, !Self.increase(&runningAt[address, default: 0], to: perAddress) { return false }
    running += 1
    return true
  }

  private static func increase(_ number: inout Int, to limit: Int) -> Bool {
    guard number < limit else { return false }
    number += 1
    return true
  }

  private mutating func count(out address: IPAddress?) {
    running -= 1
    guard let address, let index = runningAt.index(forKey: address) else { return }
    if runningAt.values[index] > 1 { runningAt.values[index] -= 1 } else { runningAt.remove(at: index) }
  }
}
