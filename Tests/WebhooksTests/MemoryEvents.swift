import Locks
import ReachabilityModel

@testable import Webhooks

/// Events in memory, and a store that tests can stop.
final class MemoryEvents: WebhookEventSource, WebhookStorage {
  private struct State {
    var events: [WebhookEvent] = []
    var positions: [String: WebhookPosition] = [:]
    var log: [WebhookLogEntry] = []
    var isFailing = false
    /// Saves that are not answered yet, while the disk hangs.
    var hanging: [@Sendable (Bool) -> Void]?
  }

  private let state: Locked<State>
  let epoch: String

  init(epoch: String = "e", positions: [String: WebhookPosition] = [:]) {
    self.epoch = epoch
    state = Locked(State(positions: positions))
  }

  var end: UInt64 { state.withLock { UInt64($0.events.count) } }
  var positions: [String: WebhookPosition] { state.withLock(\.positions) }
  var results: [WebhookDeliveryRecord.Result] { state.withLock { $0.log.map(\.record.result) } }

  func append(_ count: Int = 1, at time: Timestamp = Timestamp(microseconds: 0)) {
    state.withLock { state in
      for _ in 0..<count {
        let sequence = UInt64(state.events.count + 1)
        state.events.append(
          WebhookEvent(sequence: sequence, time: time, type: "path", subject: "machine", data: Array("{}".utf8)))
      }
    }
  }

  /// Makes saves fail, or hang.
  func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
  func hang() { state.withLock { $0.hanging = [] } }

  func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void) {
    let found = state.withLock { Array($0.events.dropFirst(Int(sequence)).prefix(limit == 1 ? 1 : 10)) }
    completion(.events(found, through: found.last?.sequence ?? sequence))
  }

  func load(_ completion: @escaping @Sendable ([String: WebhookPosition]?) -> Void) { completion(positions) }

  func save(
    _ positions: [String: WebhookPosition], _ records: [WebhookLogEntry],
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    let isStored = state.withLock { state -> Bool? in
      guard state.hanging == nil else {
        state.hanging?.append(completion)
        return nil
      }
      guard !state.isFailing else { return false }
      state.positions.merge(positions) { $1 }
      state.log += records
      return true
    }
    if let isStored { completion(isStored) }
  }

  func log(
    of id: String, before entry: Int64?, limit: Int, _ completion: @escaping @Sendable ([WebhookLogEntry]?) -> Void
  ) {
    completion(state.withLock { $0.log.filter { $0.webhook == id }.reversed() })
  }
}
