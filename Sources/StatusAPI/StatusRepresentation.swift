package import JSONFormat
package import ReachabilityModel

/// The JSON document of `/status` and its parts.
///
/// This is a public format: members may be added, not changed or removed.
package enum StatusRepresentation {
  /// Returns the whole document of `GET /status`.
  package static func document(_ snapshot: Snapshot, epoch: String) -> JSON {
    guard case .object(let members) = verdict(snapshot, epoch: epoch) else { return .null }
    return .object(members + [.init(name: "interfaces", value: .array(snapshot.interfaces.map(brief)))])
  }

  /// Returns the document without its interfaces, for `status` events.
  static func verdict(_ snapshot: Snapshot, epoch: String) -> JSON {
    let machine = snapshot.machine
    return .members([
      "status": .string(machine.status.name),
      "connectionType": .text(machine.status.connectionType?.rawValue),
      "isReachable": .bool(machine.status.isReachable),
      "flags": .list(machine.flags.names),
      "isExpensive": .bool(machine.isExpensive),
      "isConstrained": .bool(machine.isConstrained),
      "reason": .text(machine.reason?.rawValue),
      "id": .string(EventID(epoch: epoch, sequence: snapshot.sequence).description),
      "since": .text(snapshot.since?.description),
      "ipv4": family(machine.ipv4),
      "ipv6": family(machine.ipv6),
    ])
  }

  /// Returns the default path of one family.
  static func family(_ path: NetworkPath) -> JSON {
    .members([
      "status": .string(path.status.name),
      "interface": .text(path.interface?.name),
      "interfaceType": .text(path.interface?.type.rawValue),
      "gateway": .text(path.gateway?.description),
      "source": .text(path.source?.description),
      "reason": .text(path.reason?.rawValue),
    ])
  }

  /// Returns an interface for `/status`.
  static func brief(_ state: InterfaceState) -> JSON {
    .members([
      "name": .string(state.interface.name),
      "index": .integer(Int64(state.interface.index)),
      "type": .string(state.interface.type.rawValue),
      "isUp": .bool(state.interface.flags.contains(.up)),
      "operationalState": .string(operationalState(state.interface)),
      "isExpensive": .bool(state.interface.isExpensive),
      "isConstrained": .bool(state.interface.isConstrained),
      "addresses": .list(state.addresses.map(\.description)),
    ])
  }

  /// Returns an interface for `/interfaces` and `interface` events; `all` contains the name of the lower device.
  static func interface(_ state: InterfaceState, among all: [InterfaceState]) -> JSON {
    let lower = state.interface.lowerIndex.flatMap { index in all.first { $0.interface.index == index } }
    return .members([
      "name": .string(state.interface.name),
      "index": .integer(Int64(state.interface.index)),
      "type": .string(state.interface.type.rawValue),
      "isUp": .bool(state.interface.flags.contains(.up)),
      "operationalState": .string(operationalState(state.interface)),
      "isExpensive": .bool(state.interface.isExpensive),
      "isConstrained": .bool(state.interface.isConstrained),
      "mtu": .integer(Int64(state.interface.mtu)),
      "lower": .text(lower?.interface.name),
      "addresses": .list(state.addresses.map(\.description)),
    ])
  }

  private static func operationalState(_ interface: Interface) -> String { "\(interface.operationalState)" }

  /// Returns one line without its line end: `reachable ethernetOrWiFi eth0 via 10.0.0.1`, `notReachable noRoute`.
  package static func line(_ path: NetworkPath) -> String {
    var words = [path.status.name]
    words += [path.status.connectionType?.rawValue, path.reason?.rawValue].compactMap(\.self)
    if let interface = path.interface { words.append(interface.name.withoutControls) }
    if let gateway = path.gateway { words += ["via", gateway.description] }
    return words.joined(separator: " ")
  }
}
