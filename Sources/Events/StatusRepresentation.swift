package import JSONFormat
package import ReachabilityModel

/// The JSON document of `/status` and its parts.
///
/// This is a public format: members may be added, not changed or removed.
package enum StatusRepresentation {
  /// Returns the whole document of `GET /status`.
  package static func document(_ snapshot: Snapshot, epoch: String) -> JSON {
    guard case .object(let members) = verdict(snapshot, epoch: epoch) else { return .null }
    return .object(members + [.init(name: "interfaces", value: .array(snapshot.interfaces.map { interface($0) }))])
  }

  /// Returns the document without its interfaces, for `status` events.
  package static func verdict(_ snapshot: Snapshot, epoch: String) -> JSON {
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

  package static func family(_ path: NetworkPath) -> JSON {
    .members([
      "status": .string(path.status.name),
      "interface": .text(path.interface?.name),
      "interfaceType": .text(path.interface?.type.rawValue),
      "gateway": .text(path.gateway?.description),
      "source": .text(path.source?.description),
      "reason": .text(path.reason?.rawValue),
    ])
  }

  /// Returns an interface for `/status`, or, with further members, for `/interfaces` and `interface` events.
  static func interface(_ state: InterfaceState, _ further: KeyValuePairs<String, JSON> = [:]) -> JSON {
    let interface = state.interface
    let members: KeyValuePairs<String, JSON> = [
      "name": .string(interface.name), "index": .integer(Int64(interface.index)),
      "type": .string(interface.type.rawValue), "isUp": .bool(interface.flags.contains(.up)),
      "operationalState": .string("\(interface.operationalState)"), "isExpensive": .bool(interface.isExpensive),
      "isConstrained": .bool(interface.isConstrained),
    ]
    let addresses = (key: "addresses", value: JSON.list(state.addresses.map(\.description)))
    return .object((Array(members) + Array(further) + [addresses]).map { JSON.Member(name: $0.key, value: $0.value) })
  }

  /// Returns an interface for `/interfaces` and `interface` events; `all` contains the name of the lower device.
  static func interface(_ state: InterfaceState, among all: [InterfaceState]) -> JSON {
    let lower = state.interface.lowerIndex.flatMap { index in all.first { $0.interface.index == index } }
    return interface(state, ["mtu": .integer(Int64(state.interface.mtu)), "lower": .text(lower?.interface.name)])
  }

  /// Returns one line without its line end: `reachable ethernetOrWiFi eth0 via 10.0.0.1`, `notReachable noRoute`.
  package static func line(_ path: NetworkPath) -> String {
    var words = [path.status.name]
    words += [path.status.connectionType?.rawValue, path.reason?.rawValue].compactMap(\.self)
    if let interface = path.interface { words.append(interface.name.withoutControls) }
    if let gateway = path.gateway { words += ["via", gateway.description] }
    return words.joined(separator: " ")
  }
}
