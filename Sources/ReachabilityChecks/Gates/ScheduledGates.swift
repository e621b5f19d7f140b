internal import Locks
internal import NetworkReachability
public import ReachabilityModel

/// Why a gate was not changed.
public enum GateChangeError: Error, Hashable, Sendable {
  /// As a change of a target.
  case refused(ScheduleChangeError)
  /// There are as many gates as possible.
  case tooMany
  /// The gates name as many targets as possible.
  case tooManyNames
}

/// What must follow when documents of gates have changed.
struct GateObserver: Sendable {
  /// Called under the lock of the schedule, before the events are published; it must not call back.
  var willPublish: @Sendable () -> Void
  /// Called without a lock, with the ids of the gates.
  var didPublish: @Sendable (_ ids: Set<String>) -> Void
}

extension CheckSchedule {
  /// The gates, which depend on the targets.
  public var gates: ScheduledGates { ScheduledGates(schedule: self) }
}

/// The gates of a schedule.
public struct ScheduledGates: Sendable {
  fileprivate let schedule: CheckSchedule

  /// The gates, in the order of their ids.
  ///
  /// Each is read for itself, because to find the worst of 10,000 members takes a fraction of a millisecond.
  public var reports: [GateReport] { schedule.guarded.withLock(\.gates.ids).compactMap { report(of: $0) } }

  /// The report of a gate; nil when there is none.
  public func report(of id: String) -> GateReport? { schedule.guarded.withLock { $0.gates.report(of: id) } }

  /// The members of a gate with their states, in any order; nil when there is no such gate.
  public func members(of id: String) -> [(id: String, state: GateMemberState)]? {
    schedule.guarded.withLock { $0.gates.members(of: id) }
  }

  /// Adds or changes a gate.
  ///
  /// - Parameters:
  ///   - definition: the gate.
  ///   - origin: the configuration, or a client.
  ///   - account: the client's account, whose rate of changes applies; nil for no limit.
  ///   - precondition: the condition for the change.
  /// - Returns: the gate, and whether it is new.
  /// - Throws: why it was not changed.
  @discardableResult
  public func put(
    _ definition: GateDefinition, origin: TargetOrigin = .runtime, by account: TargetAccount? = nil,
    if precondition: TargetPrecondition = .none
  ) throws(GateChangeError) -> (report: GateReport, isNew: Bool) {
    let result = schedule.guarded.withLock { registry in
      let now = schedule.now()
      defer { schedule.rearm(&registry, now) }
      return Result { () throws(GateChangeError) in
        try registry.putGate(definition, origin, account, precondition, at: now)
      }
    }
    let change = try result.get()
    change.publish()
    return (change.report, change.isNew)
  }

  /// Removes a gate.
  ///
  /// - Parameters:
  ///   - id: the gate.
  ///   - origin: the configuration, or a client.
  ///   - account: the client's account, whose rate of changes applies; nil for no limit.
  ///   - precondition: the condition for the change.
  /// - Throws: why it was not removed.
  public func remove(
    _ id: String, origin: TargetOrigin = .runtime, by account: TargetAccount? = nil,
    if precondition: TargetPrecondition = .none
  ) throws(GateChangeError) {
    let result = schedule.guarded.withLock { registry in
      Result { () throws(GateChangeError) in
        try registry.removeGate(id, origin, account, precondition, at: schedule.now())
      }
    }
    try result.get()()
  }

  /// Replaces the gates of the configuration; gates of clients stay.
  ///
  /// Call it after ``CheckSchedule/configure(_:)`` and, the first time, after the first reading of the kernel, because gates are decided
  /// immediately.
  public func configure(_ definitions: [GateDefinition]) {
    let publish = schedule.guarded.withLock { registry in
      let now = schedule.now()
      defer { schedule.rearm(&registry, now) }
      return registry.configureGates(definitions, at: now)
    }
    publish()
  }

  /// Continues with the gates of an earlier process, before the first ``configure(_:)``.
  public func restore(_ gates: [RestoredGate]) {
    schedule.guarded.withLock { $0.gates.restore(gates) }
  }

  /// Keeps all gates as they are until ``configure(_:)``, so that a configuration takes effect as a whole.
  ///
  /// Without it, a gate would close when a target is removed which its new definition does not name any more.
  public func holdUntilConfigured() { schedule.guarded.withLock { $0.gates.hold() } }

  /// Calls closures when documents of gates have changed.
  ///
  /// - Parameters:
  ///   - willPublish: called before the events are published, under a lock; it must not call back.
  ///   - didPublish: called afterwards, on any thread, with the ids of the gates.
  package func observe(
    willPublish: @escaping @Sendable () -> Void, didPublish: @escaping @Sendable (_ ids: Set<String>) -> Void
  ) {
    let observer = GateObserver(willPublish: willPublish, didPublish: didPublish)
    schedule.guarded.withLock { $0.gateObserver = observer }
  }
}
