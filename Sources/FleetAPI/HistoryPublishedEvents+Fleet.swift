internal import History
internal import ReachabilityFleet

extension HistoryPublishedEvents {
  init(_ acknowledgement: FleetAcknowledgement) {
    self.init(
      epoch: acknowledgement.epoch, through: Int64(clamping: acknowledgement.acked),
      throughEver: Int64(clamping: acknowledgement.ackedEver))
  }
}

extension FleetAcknowledgement {
  init(_ stored: HistoryPublishedEvents) {
    self.init(
      epoch: stored.epoch, acked: UInt64(clamping: stored.through), ackedEver: UInt64(clamping: stored.throughEver))
  }
}
