import ReachabilityModel
import Testing

/// The address that a text spells; the test fails when it spells none.
func ip(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> IPAddress {
  try #require(IPAddress(text), "\(text) is no address", sourceLocation: location)
}

/// The block that a text such as `10.0.0.0/24` spells.
func block(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> IPPrefix {
  let parts = text.split(separator: "/")
  try #require(parts.count == 2, sourceLocation: location)
  let length = try #require(UInt8(parts[1]), sourceLocation: location)
  return IPPrefix(try ip(String(parts[0]), location), length: length)
}

extension Interface {
  /// An interface that passes packets, unless told otherwise.
  static func sample(
    _ index: UInt32 = 2, _ name: String = "eth0", _ type: InterfaceType = .ethernet,
    flags: Flags = [.up, .running, .lowerUp], state: OperationalState = .up
  ) -> Interface {
    Interface(index: index, name: name, type: type, flags: flags, operationalState: state)
  }

  /// The loopback device, on or off.
  static func loopback(on: Bool = true) -> Interface {
    .sample(1, "lo", .loopback, flags: on ? [.up, .running, .lowerUp, .loopback] : .loopback, state: .unknown)
  }
}

extension KernelTables {
  /// Tables of interfaces, and of addresses written as `10.0.0.5/24` by interface index.
  static func sample(_ interfaces: [Interface], _ addresses: [(UInt32, String)] = []) throws -> KernelTables {
    KernelTables(
      interfaces: interfaces,
      addresses: try addresses.map { InterfaceAddress(interfaceIndex: $0.0, prefix: try block($0.1)) })
  }
}

extension Route {
  /// The default route of the gateway's family over one interface.
  static func byDefault(
    via gateway: String, on index: UInt32 = 2, source: String? = "10.0.0.5", linkDown: Bool = false
  ) throws -> Route {
    let gateway = try ip(gateway)
    return Route(
      prefix: try block(gateway.family == .ipv4 ? "0.0.0.0/0" : "::/0"),
      hops: [.init(interfaceIndex: index, gateway: gateway, isLinkDown: linkDown)],
      source: try source.map { try ip($0) })
  }

  /// An on-link route.
  static func onLink(_ prefix: String, on index: UInt32 = 2, source: String? = "10.0.0.5") throws -> Route {
    Route(prefix: try block(prefix), hops: [.init(interfaceIndex: index)], source: try source.map { try ip($0) })
  }
}
