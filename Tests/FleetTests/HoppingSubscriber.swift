import Dispatch
import Glibc
import Locks
import TestSupport

/// A client of `/fleet/events` that moves between replicas, and continues after the last id that it has.
final class HoppingSubscriber: Sendable {
  fileprivate struct State: Sendable {
    var events: [StreamEvent] = []
    var snapshots = 0
    /// The gaps of the whole stream, by their reasons.
    var gaps: [String] = []
    var lastID: String?
    var isStopped = false
  }

  private let replicas: [Member]
  private let state = Locked(State())

  init(_ replicas: [Member], seed: UInt64) {
    self.replicas = replicas
    // A queue of its own: its thread waits for events.
    DispatchQueue(label: "subscriber").async { [weak self] in
      var random = SeededGenerator(seed: seed)
      while let self, !state.withLock(\.isStopped) {
        let replica = replicas[Int.random(in: 0..<replicas.count, using: &random)]
        self.visit(replica, for: .milliseconds(Int.random(in: 200...2_000, using: &random)))
      }
    }
  }

  /// Reads from one replica for some time; one that does not answer is left.
  private func visit(_ replica: Member, for time: Duration) {
    let end = ContinuousClock.now + time
    let last = state.withLock(\.lastID)
    do throws(TestError) {
      let reader = try EventReader(
        HTTPConnection(port: replica.port, in: replica.namespace), "/fleet/events",
        last.map { ["Last-Event-ID": $0] } ?? [:])
      while ContinuousClock.now < end, let event = try reader.next(within: max(end - .now, .milliseconds(1))) {
        state.withLock { $0.add(event) }
      }
    } catch {
      pause(.milliseconds(20), because: "its attempts to connect must not fill the processor")
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// How many snapshots it received: one, and one after each gap of the whole stream.
  var snapshots: Int { state.withLock(\.snapshots) }
  /// The reasons of the gaps of the whole stream.
  var gaps: [String] { state.withLock(\.gaps) }
  /// The events since the last of these gaps.
  var events: [StreamEvent] { state.withLock(\.events) }

  /// The members that were reported as lost since the last gap.
  var lost: [String] {
    events.filter { $0.name == "agent" && $0.data["state"]?.text == "lost" }.compactMap { $0.data["agent"]?.text }
  }

  /// The numbers of an agent's changes since the last gap, in the order of their arrival.
  func numbers(_ agent: String) -> [UInt64] {
    origins(agent).compactMap { $0.split(separator: "-").last.flatMap { UInt64($0) } }
  }

  /// The same with the epochs of the agent's store.
  func origins(_ agent: String) -> [String] {
    events.filter { $0.name == "cell" && $0.data["agent"]?.text == agent }.compactMap { $0.data["origin"]?.text }
  }
}

extension HoppingSubscriber.State {
  fileprivate mutating func add(_ event: StreamEvent) {
    lastID = event.id ?? lastID
    switch event.name {
    case "snapshot": snapshots += 1
    case "gap" where event.data["reason"] != nil:
      gaps.append(event.data["reason"]?.text ?? "")
      events = []
    case "bye": return
    default: events.append(event)
    }
  }
}
