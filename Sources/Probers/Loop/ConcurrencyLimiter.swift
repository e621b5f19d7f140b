internal import DequeModule
internal import ReachabilityModel

/// Limits how many checks run at the same time, in total and per address; the others wait in order.
///
/// It counts the running checks and knows the waiting ones by their identifiers.
struct ConcurrencyLimiter {
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
  /// Those that wait for the capacity only.
  private var queue: Deque<Waiter> = []
  /// Those that wait for an address.
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

  /// Returns a slot, and grants what becomes free to waiting checks.
  ///
  /// - Parameters:
  ///   - address: the one that the slot was requested for.
  ///   - isWaiting: false for a check that was cancelled while it waited.
  /// - Returns: the checks that have a slot now.
  mutating func release(_ address: IPAddress? = nil, isWaiting: (UInt64) -> Bool) -> [UInt64] {
    count(out: address)
    promote(address)
    var granted: [UInt64] = []
    while running < capacity, let waiter = queue.popFirst() {
      guard isWaiting(waiter.id) else {
        waiting -= 1
        // It was also the next one for its address.
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
    // Frees the storage that a burst has left.
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

  /// Counts one more running check; false if its address has no room.
  private mutating func count(in address: IPAddress?) -> Bool {
    // One dictionary access, because every check comes here.
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
