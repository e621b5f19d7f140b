internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityModel

/// Logs transitions: a constant message with metadata.
///
/// Equal changes of several targets in one reading are one line. What changes again and again has one line when that
/// begins and one when it ends (``RepeatedChanges``). Changes of hosts are logged at `debug`: their number is that of the
/// registered targets and of the hosts that clients name, and both have events of their own.
final class EngineTransitionLog: Sendable {
  private let logger: Logger
  private let repeated = Locked(RepeatedChanges())
  /// Ends the periods of repeated changes; it starts no thread before the first one.
  private let queue = DispatchQueue(label: "log-repeats")

  init(_ logger: Logger) { self.logger = logger }

  func write(_ transitions: [Transition]) {
    // An unplugged cable causes thousands of lines; without a reader they are not built.
    guard !transitions.isEmpty, logger.logLevel <= .notice else { return }
    let now = ContinuousClock.now
    let (decisions, isFirst) = repeated.withLock { repeated in
      let wasEmpty = repeated.isEmpty
      let decisions = transitions.map { transition -> RepeatedChanges.Decision in
        let line = transition.logLine
        return line.subject.map {
          repeated.record($0, line.state, isFlapping: line.isFlapping, at: now)
        } ?? .log
      }
      return (decisions, wasEmpty && !repeated.isEmpty)
    }
    var groups = TargetChangeGroups()
    for (transition, decision) in zip(transitions, decisions) {
      if decision == .count { continue }
      if case .target = transition.change {
        groups.add(transition, isRepeated: decision == .begin)
      } else {
        write(transition, isRepeated: decision == .begin)
      }
    }
    for group in groups.all {
      logger.log(level: group.isRepeated ? .notice : .info, group.message, metadata: group.metadata)
    }
    if isFirst { scheduleEnd() }
  }

  // MARK: - Repeated changes

  private func scheduleEnd() {
    queue.asyncAfter(deadline: .now() + .seconds(Int(RepeatedChanges.quiet.components.seconds))) { [weak self] in
      self?.endRepeated()
    }
  }

  private func endRepeated() {
    let (ended, isOver) = repeated.withLock { ($0.takeEnded(at: .now), $0.isEmpty) }
    for end in ended {
      var metadata: Logger.Metadata = ["changes": .stringConvertible(end.changes)]
      metadata[end.subject.kind] = end.subject.name.map { "\($0)" }
      metadata["state"] = "\(end.state)"
      metadata["seconds"] = .stringConvertible(end.duration.components.seconds)
      logger.notice("\(end.subject.kind) no longer flapping", metadata: metadata)
    }
    if !isOver { scheduleEnd() }
  }

  // MARK: - Lines

  private func write(_ transition: Transition, isRepeated: Bool) {
    let line = transition.logLine
    guard line.subject != nil || logger.logLevel <= .debug else { return }
    var metadata: Logger.Metadata = ["sequence": .stringConvertible(transition.sequence)]
    if !transition.causes.isEmpty {
      metadata["cause"] = "\(transition.causes.map(\.rawValue).joined(separator: ","))"
    }
    for (name, value) in transition.logValues {
      metadata[name] = if let text = value as? String { .string(text) } else { .stringConvertible(value) }
    }
    if let subject = line.subject, isRepeated {
      logger.notice("\(subject.kind) flapping", metadata: metadata)
    } else {
      logger.log(level: line.subject == nil ? .debug : .info, "\(line.message)", metadata: metadata)
    }
  }
}

/// The changes of targets in one reading; equal ones are one line.
private struct TargetChangeGroups {
  struct Key: Hashable {
    var from: TargetState
    var state: TargetState
    var reason: Reason?
    var dependency: String?
    var causes: [Cause]
    var isFlapping: Bool
    var isRemoved: Bool
    var isRepeated: Bool
  }

  struct Group {
    var key: Key
    var sequence: UInt64
    var ids: [String] = []

    var isRepeated: Bool { key.isRepeated }

    var message: Logger.Message {
      if isRepeated { return ids.count == 1 ? "target flapping" : "targets flapping" }
      if key.isRemoved { return ids.count == 1 ? "target removed" : "targets removed" }
      return ids.count == 1 ? "target changed" : "targets changed"
    }

    var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = [
        "sequence": .stringConvertible(sequence), "from": "\(key.from.rawValue)", "state": "\(key.state.rawValue)",
      ]
      // The schedule publishes at most 64 changes together, so the list is short.
      metadata[ids.count == 1 ? "target" : "targets"] = "\(ids.joined(separator: ","))"
      if ids.count > 1 { metadata["count"] = .stringConvertible(ids.count) }
      if !key.causes.isEmpty { metadata["cause"] = "\(key.causes.map(\.rawValue).joined(separator: ","))" }
      if key.isFlapping { metadata["flapping"] = .stringConvertible(true) }
      if let reason = key.reason { metadata["reason"] = "\(reason.rawValue)" }
      if let dependency = key.dependency { metadata["dependency"] = "\(dependency)" }
      return metadata
    }
  }

  /// The groups in the order of their first changes.
  private(set) var all: [Group] = []
  private var indexes: [Key: Int] = [:]

  mutating func add(_ transition: Transition, isRepeated: Bool) {
    guard case .target(let from, let to, let isRemoved) = transition.change else { return }
    let key = Key(
      from: from, state: to.status.state, reason: to.status.reason, dependency: to.status.dependency,
      causes: transition.causes,
      isFlapping: to.status.isFlapping, isRemoved: isRemoved, isRepeated: isRepeated)
    let index = indexes[key] ?? all.count
    if index == all.count {
      indexes[key] = index
      all.append(Group(key: key, sequence: transition.sequence))
    }
    all[index].ids.append(to.definition.id)
  }
}
