extension FleetReplica {
  /// Deliveries stopped.
  mutating func interrupt(at now: Duration) -> [Effect] {
    suspend()
    nextCheck = min(nextCheck, now + Self.interruptionPause)
    return [wake]
  }

  /// The engine is connected, or is not any longer.
  mutating func connect(_ isConnected: Bool, at now: Duration) -> [Effect] {
    self.isConnected = isConnected
    suspend()
    guard isConnected else { return [] }
    nextCheck = now + Self.checkInterval
    return [readStreamState, wake]
  }
}
