internal import ReachabilityModel

// The accounts that targets are charged to.
extension ScheduleState {
  /// The account that a change of a target is charged to: without a caller the one that has it.
  func account(_ caller: TargetAccount?, of id: String, _ origin: TargetOrigin) -> TargetAccount {
    if origin == .configuration { return .file }
    if origin == .fleet { return .fleet }
    guard let caller else { return entries[id].map(\.account).flatMap { $0 == .file ? nil : $0 } ?? .anonymous }
    return caller
  }

  /// The limit that a caller's registration exceeds; nil when it may be registered.
  func excess(
    _ definition: TargetDefinition, by caller: TargetAccount?, _ origin: TargetOrigin = .runtime
  ) -> QuotaExcess? {
    let old = entries[definition.id]
    // Sending back what is registered changes nothing, and is not charged.
    if old?.definition == definition { return nil }
    return ledger.excess(
      definition, by: account(caller, of: definition.id, origin),
      replacing: old.map { ($0.definition, $0.account) })
  }
}
