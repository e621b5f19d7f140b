public import ReachabilityModel

extension InterfaceState {
  private static let storedFormat: UInt8 = 1

  /// The form in which a state is stored, for the comparison with the first reading of the next run.
  public var storedBytes: [UInt8] {
    var writer = StateRecordWriter()
    writer.write(Self.storedFormat)
    writer.write(interface.index)
    writer.write(interface.name)
    writer.write(interface.type.rawValue)
    writer.write(interface.flags.rawValue)
    writer.write(interface.operationalState.rawValue)
    writer.write(interface.mtu)
    // There is no interface 0.
    writer.write(interface.lowerIndex ?? 0)
    writer.write(interface.kind)
    writer.write(interface.hardwareType)
    for property in [interface.isWWAN, interface.isExpensive, interface.isConstrained, interface.hasDeclaredCost] {
      writer.write(property)
    }
    writer.write(UInt16(clamping: addresses.count))
    for prefix in addresses.prefix(Int(UInt16.max)) {
      writer.write(prefix.address.description)
      writer.write(prefix.length)
    }
    return writer.bytes
  }

  /// Reads the stored form; nil for another format.
  public init?(storedBytes: [UInt8]) {
    var reader = StateRecordReader(storedBytes)
    guard reader.integer(UInt8.self) == Self.storedFormat, let interface = reader.interface(),
      let count = reader.integer(UInt16.self)
    else { return nil }
    var addresses: [IPPrefix] = []
    for _ in 0..<count {
      guard let address = reader.text().flatMap({ IPAddress($0) }), let length = reader.integer(UInt8.self) else {
        return nil
      }
      addresses.append(IPPrefix(address, length: length))
    }
    self.init(interface: interface, addresses: addresses)
  }
}

extension StateRecordReader {
  fileprivate mutating func interface() -> Interface? {
    guard let index = integer(UInt32.self), let name = text(), let type = text().flatMap(InterfaceType.init(rawValue:)),
      let flags = integer(UInt32.self), let state = integer(UInt8.self).flatMap(Interface.OperationalState.init),
      let mtu = integer(UInt32.self), let lower = integer(UInt32.self), let kind = optionalText(),
      let hardware = integer(UInt16.self), let isWWAN = bool(), let isExpensive = bool(), let isConstrained = bool(),
      let hasDeclaredCost = bool()
    else { return nil }
    var interface = Interface(
      index: index, name: name, type: type, flags: Interface.Flags(rawValue: flags), operationalState: state, mtu: mtu,
      lowerIndex: lower == 0 ? nil : lower, kind: kind, hardwareType: hardware)
    interface.isWWAN = isWWAN
    interface.isExpensive = isExpensive
    interface.isConstrained = isConstrained
    interface.hasDeclaredCost = hasDeclaredCost
    return interface
  }
}
