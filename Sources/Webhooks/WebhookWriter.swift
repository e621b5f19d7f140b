internal import Locks

/// Stores positions and log entries: one transaction at a time, with everything that was changed during the one before.
///
/// Deliveries do not wait for it, so that a full disk delays none: a position that was not stored leads to a repetition
/// after a restart.
final class WebhookWriter: Sendable {
  private struct Pending {
    var positions: [String: WebhookPosition] = [:]
    var records: [WebhookLogEntry] = []
    var isSaving = false
  }

  private let storage: any WebhookStorage
  private let pending = Locked(Pending())

  init(_ storage: any WebhookStorage) { self.storage = storage }

  /// Stores a position, unless a newer one follows before the next transaction.
  func save(_ position: WebhookPosition, of id: String) {
    pending.withLock { $0.positions[id] = position }
  }

  func append(_ record: WebhookDeliveryRecord, of id: String) {
    pending.withLock { pending in
      pending.records.append(WebhookLogEntry(webhook: id, record: record))
      pending.records.removeFirst(max(0, pending.records.count - Limits.pendingRecords))
    }
  }

  /// Begins a transaction, unless one is in progress or nothing has changed.
  func flush() {
    let work = pending.withLock { pending -> ([String: WebhookPosition], [WebhookLogEntry])? in
      guard !pending.isSaving, !pending.positions.isEmpty || !pending.records.isEmpty else { return nil }
      pending.isSaving = true
      defer { (pending.positions, pending.records) = ([:], []) }
      return (pending.positions, pending.records)
    }
    guard let (positions, records) = work else { return }
    storage.save(positions, records) { [weak self] isStored in self?.end(positions, records, isStored) }
  }

  private func end(_ positions: [String: WebhookPosition], _ records: [WebhookLogEntry], _ isStored: Bool) {
    pending.withLock { pending in
      pending.isSaving = false
      guard !isStored else { return }
      // Newer positions replace those that were not stored; both are stored with the next change.
      pending.positions.merge(positions) { newer, _ in newer }
      pending.records = Array((records + pending.records).suffix(Limits.pendingRecords))
    }
    if isStored { flush() }
  }
}
