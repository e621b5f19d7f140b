import JetStream
import Locks
import ReachabilityFleet
import ReachabilityModel
import FleetAPI

/// What a reader of the stream has received.
final class StreamRecord: Sendable {
  private let received = Locked<[FleetMessage]>([])
  private let last = Locked<UInt64>(0)
  /// The subjects of messages that are not understood.
  let unreadable = Locked<[String]>([])
  /// The numbers in the stream that were delivered after a later one.
  private let redelivered = Locked<[UInt64]>([])

  /// The number in the stream from which another reader continues.
  var next: UInt64 { last.withLock { $0 + 1 } }

  func add(_ delivery: JetStreamDelivery) {
    guard case .message(let message, _) = delivery else { return }
    let isLate = last.withLock { last in
      defer { last = max(last, message.sequence) }
      return message.sequence <= last
    }
    if isLate { redelivered.withLock { $0.append(message.sequence) } }
    guard let decoded = FleetWire.decode(message.payload, subject: message.subject) else {
      return unreadable.withLock { $0.append(message.subject) }
    }
    received.withLock { $0.append(decoded) }
  }

  /// The messages that are understood, in the order of the stream.
  var messages: [FleetMessage] { received.withLock { $0 } }

  func agentMessages(_ id: String) -> [AgentMessage] {
    messages.compactMap { message in
      if case .agent(let message) = message, message.agent == id { message } else { nil }
    }
  }

  func nodes(_ id: String) -> [NodeMessage.Content] {
    messages.compactMap { message in
      if case .node(let message) = message, message.id == id { message.content } else { nil }
    }
  }

  func changes(_ id: String) -> [FleetCellChange] {
    agentMessages(id).flatMap { message -> [FleetCellChange] in
      if case .changes(let batch) = message.content { batch.changes } else { [] }
    }
  }

  /// The number up to which an agent's events are in the stream.
  func published(_ id: String) -> UInt64 { agentMessages(id).map(\.to).max() ?? 0 }

  /// What is wrong with the deliveries, and with the changes of each history: a number twice, or a change that does not
  /// begin where the one before ended.
  ///
  /// An agent whose disk did not respond in time publishes events that the disk does not have. If it is killed then, it
  /// begins another history, whose numbers are its own.
  func faults(_ id: String) -> [String] {
    var faults = redelivered.withLock(\.self).map { "message \($0) was delivered again" }
    var epochs: [String] = []
    var numbers: Set<UInt64> = []
    var cells: [String: TargetState] = [:]
    for message in agentMessages(id) {
      if message.epoch != epochs.last {
        if epochs.contains(message.epoch) { faults.append("the history \(message.epoch) again") }
        epochs.append(message.epoch)
        (numbers, cells) = ([], [:])
      }
      guard case .changes(let batch) = message.content else { continue }
      for change in batch.changes {
        if !numbers.insert(change.number).inserted { faults.append("\(message.epoch)-\(change.number) twice") }
        if let before = cells[change.target], before != change.old {
          faults.append("\(message.epoch)-\(change.number): \(change.target) was \(before), not \(change.old)")
        }
        cells[change.target] = change.cell?.state
      }
    }
    return faults
  }
}
