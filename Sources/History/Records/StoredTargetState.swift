public import ReachabilityModel

/// What is restored of a registered target besides its definition.
public struct StoredTargetState: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The status, without its last result.
  public var status: TargetStatus.Restorable
  /// The number of state changes that were published since the definition's revision.
  public var changes: UInt64
  /// Whether the configuration paused the target; nil for targets of clients.
  public var isPausedByConfiguration: Bool?

  /// Makes a state from its parts.
  public init(status: TargetStatus.Restorable, changes: UInt64, isPausedByConfiguration: Bool? = nil) {
    self.status = status
    self.changes = changes
    self.isPausedByConfiguration = isPausedByConfiguration
  }

  /// The stored form.
  public var bytes: [UInt8] {
    var writer = StateRecordWriter()
    writer.write(Self.format)
    writer.write(changes)
    writer.write(status.state.rawValue)
    writer.write(status.reason?.rawValue)
    writer.write(status.since.microseconds)
    writer.write(Int64(status.consecutiveFailures))
    writer.write(status.flapBits)
    writer.write(status.wasUp.map { $0 ? UInt8(2) : 1 } ?? 0)
    writer.write(status.isFlapping)
    writer.write(isPausedByConfiguration.map { $0 ? UInt8(2) : 1 } ?? 0)
    // Releases before 0.2.0 neither wrote nor read it.
    if let dependency = status.dependency { writer.write(dependency) }
    return writer.bytes
  }

  /// Reads the stored form; nil for another format.
  public init?(_ bytes: [UInt8]) {
    var reader = StateRecordReader(bytes)
    guard reader.integer(UInt8.self) == Self.format, let changes = reader.integer(UInt64.self),
      let state = reader.text().flatMap(TargetState.init(rawValue:)), let reason = reader.optionalText(),
      let since = reader.integer(Int64.self), let failures = reader.integer(Int64.self),
      let flapBits = reader.integer(UInt32.self), let wasUp = reader.integer(UInt8.self),
      let isFlapping = reader.bool(), let pause = reader.integer(UInt8.self)
    else { return nil }
    self.init(
      status: TargetStatus.Restorable(
        state: state, reason: reason.map(Reason.init(rawValue:)), since: Timestamp(microseconds: since),
        consecutiveFailures: Int(min(max(0, failures), Limits.storedCount)), flapBits: flapBits,
        wasUp: [nil, false, true][min(2, Int(wasUp))],
        isFlapping: isFlapping, dependency: reader.text()),
      changes: min(changes, UInt64(Limits.storedCount)),
      isPausedByConfiguration: [nil, false, true][min(2, Int(pause))])
  }
}
