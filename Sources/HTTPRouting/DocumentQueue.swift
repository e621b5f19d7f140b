internal import EventStreams
internal import Dispatch
internal import Locks

/// Makes the responses whose cost grows with the number of targets, one at a time, beside the thread that serves requests.
///
/// Every client with read access may request them, in any number of spellings. Requests therefore wait in a queue with limits, in which
/// clients take turns, and a request whose client has disconnected is not answered.
package final class DocumentQueue: Sendable {
  /// Requests that wait: at up to 0.1 s each, the last of them is answered within half a minute.
  package static let limit = 256
  /// Requests of one client that wait; a page has few, and a proxy is one client.
  package static let clientLimit = 64

  package struct Counts: Equatable {
    package var waiting = 0
    package var made = 0
    /// Requests refused because too many waited.
    package var refused = 0
  }

  private struct Job: Sendable {
    let make: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  /// Where a request waits; nil before it does, and if it does not.
  private final class Place: Sendable {
    let ticket = Locked<ClientQueue<Job>.Ticket?>(nil)
  }

  private struct State {
    var waiting = ClientQueue<Job>(limit: DocumentQueue.limit, clientLimit: DocumentQueue.clientLimit)
    var isRunning = false
    var made = 0
    var refused = 0
  }

  private let queue = DispatchQueue(label: "documents", qos: .userInitiated)
  private let state = Locked(State())

  init() {}

  package var counts: Counts {
    state.withLock { Counts(waiting: $0.waiting.count, made: $0.made, refused: $0.refused) }
  }

  /// Returns a reply that is made on the queue, or 503 when too many requests wait.
  func reply(
    client: String, requestID: String, _ make: @escaping @Sendable () throws(Problem) -> HTTPReply
  ) -> HTTPReply {
    .later { [self] promise in
      let job = Job {
        do throws(Problem) {
          try make().fulfil(promise)
        } catch {
          promise.fulfil(error.response(requestID: requestID))
        }
      } refuse: {
        promise.fulfil(Self.isFull.response(requestID: requestID))
      }
      // Registered first: the job may be made while it is added, and its own handler replaces this one.
      let place = Place()
      promise.onAbandonment { [weak self] in
        if let ticket = place.ticket.withLock(\.self) { self?.remove(ticket) }
      }
      let ticket = add(job, of: client)
      place.ticket.withLock { $0 = ticket }
    }
  }

  private static let isFull = Problem(
    .overloaded, "too many requests for documents of all targets wait; retry later", headers: ["Retry-After": "2"])

  /// Adds a job; nil if it or none waits.
  private func add(_ job: Job, of client: String) -> ClientQueue<Job>.Ticket? {
    let (admission, starts) = state.withLock { state in
      let admission = state.waiting.add(job, of: client)
      switch admission {
      case .refused, .added(_, removing: .some): state.refused += 1
      case .added(_, removing: nil): break
      }
      defer { state.isRunning = true }
      return (admission, !state.isRunning)
    }
    if starts { queue.async { [self] in run() } }
    switch admission {
    case .refused:
      job.refuse()
      return nil
    case .added(let ticket, let removed):
      removed?.refuse()
      return ticket
    }
  }

  private func remove(_ ticket: ClientQueue<Job>.Ticket) {
    // Released outside the lock: it has the last reference to a promise.
    let removed = state.withLock { $0.waiting.remove(ticket) }
    _ = removed
  }

  private func run() {
    while let job = next() { job.make() }
  }

  private func next() -> Job? {
    state.withLock { state in
      guard let job = state.waiting.popNext() else {
        state.isRunning = false
        return nil
      }
      state.made += 1
      return job
    }
  }
}

extension HTTPReply {
  fileprivate func fulfil(_ promise: HTTPPromise) {
    switch self {
    case .now(let response): promise.fulfil(response)
    case .later(let start): start(promise)
    case .wait(let wait): promise.fulfil(waiting: wait)
    }
  }
}
