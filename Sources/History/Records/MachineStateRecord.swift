public import ReachabilityModel

/// The machine's state as it is stored, for the comparison with the first reading of the next run.
public struct MachineStateRecord: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The verdict.
  public var machine: MachinePath
  /// When the status last changed.
  public var since: Timestamp?

  /// Makes a state from its parts.
  public init(machine: MachinePath, since: Timestamp?) {
    self.machine = machine
    self.since = since
  }

  /// The stored form.
  public var bytes: [UInt8] {
    var writer = StateRecordWriter()
    writer.write(Self.format)
    writer.write(since?.microseconds ?? 0)
    writer.write(machine.ipv4)
    writer.write(machine.ipv6)
    return writer.bytes
  }

  /// Reads the stored form; nil for another format.
  public init?(_ bytes: [UInt8]) {
    var reader = StateRecordReader(bytes)
    guard reader.integer(UInt8.self) == Self.format, let since = reader.integer(Int64.self), let ipv4 = reader.path(),
      let ipv6 = reader.path()
    else { return nil }
    self.init(
      machine: MachinePath(ipv4: ipv4, ipv6: ipv6), since: since == 0 ? nil : Timestamp(microseconds: since))
  }
}

extension StateRecordWriter {
  /// The fields of a default path, which has neither prefix nor route type.
  fileprivate mutating func write(_ path: NetworkPath) {
    write(path.flags.rawValue)
    write(path.isKnown)
    write(path.reason?.rawValue)
    write(path.gateway?.description)
    write(path.source?.description)
    write(path.interface?.name)
    guard let interface = path.interface else { return }
    write(interface.index)
    write(interface.type.rawValue)
    write(interface.isExpensive)
    write(interface.isConstrained)
  }
}

extension StateRecordReader {
  fileprivate mutating func path() -> NetworkPath? {
    guard let flags = integer(UInt32.self), let isKnown = bool(), let reason = optionalText(),
      let gateway = optionalText(), let source = optionalText(), let name = optionalText()
    else { return nil }
    var path = NetworkPath(flags: ReachabilityFlags(rawValue: flags), reason: reason.map(Reason.init(rawValue:)))
    path.isKnown = isKnown
    path.gateway = gateway.flatMap { IPAddress($0) }
    path.source = source.flatMap { IPAddress($0) }
    guard let name else { return path }
    guard let index = integer(UInt32.self), let type = text().flatMap(InterfaceType.init(rawValue:)),
      let isExpensive = bool(), let isConstrained = bool()
    else { return nil }
    var interface = Interface(index: index, name: name, type: type, flags: [], operationalState: .unknown)
    interface.isExpensive = isExpensive
    interface.isConstrained = isConstrained
    path.interface = NetworkPath.InterfaceReference(interface)
    return path
  }
}
