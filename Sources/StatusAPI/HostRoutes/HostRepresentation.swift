package import JSONFormat
package import NetworkReachability

/// The JSON document of `GET /hosts/{host}`.
///
/// This is a public format: members may be added, not changed or removed.
package enum HostRepresentation {
  /// Returns the data of a `host` event, which has no id, because it is not part of the machine's history.
  package static func event(_ verdict: HostVerdict, _ transition: Transition, initial: Bool) -> JSON {
    .members([
      "type": "host",
      "time": .string(transition.time.description),
      "cause": .list(transition.causes.map(\.rawValue)),
      "initial": .bool(initial),
      "host": document(verdict, host: verdict.target.scopedHost, evaluatedAt: transition.time),
    ])
  }

  /// Returns the document for one host, evaluated at `time`.
  package static func document(_ verdict: HostVerdict, host: String, evaluatedAt time: Timestamp) -> JSON {
    var members: [JSON.Member] = []
    func add(_ name: String, _ value: JSON) { members.append(.init(name: name, value: value)) }
    let path = verdict.path
    add("host", .string(host))
    add("kind", .string(verdict.target.kind))
    if let source = verdict.target.source { add("source", .string(source.description)) }
    if let interface = verdict.target.interface { add("interface", .string(interface)) }
    add("status", .string(path.status.name))
    add("connectionType", .text(path.status.connectionType?.rawValue))
    add("isReachable", .bool(path.status.isReachable))
    add("flags", .list(path.flags.names))
    add("isExpensive", .bool(path.isExpensive))
    add("isConstrained", .bool(path.isConstrained))
    add("reason", .text(path.reason?.rawValue))
    add("phase", .string(verdict.phase.rawValue))
    add("evaluatedAt", .string(time.description))
    add("addresses", .array(verdict.addresses.map(address)))
    if verdict.addressesOmitted > 0 { add("addressesOmitted", .integer(Int64(verdict.addressesOmitted))) }
    return .object(members)
  }

  /// Whether two verdicts for one host have the same document, apart from the time; a verdict has fields that the document
  /// does not have.
  static func hasSameRepresentation(_ old: HostVerdict, _ new: HostVerdict) -> Bool {
    // Compare cheap fields first: encoding two documents costs about a hundred times as much. The document has the
    // gateway only with a route and an address.
    guard old.path.status == new.path.status, old.path.flags == new.path.flags,
      old.path.gateway == new.path.gateway || new.path.routeType == nil || new.addresses.isEmpty
    else { return false }
    func body(_ verdict: HostVerdict) -> JSON { document(verdict, host: "", evaluatedAt: Timestamp(microseconds: 0)) }
    return body(old) == body(new)
  }

  private static func address(_ verdict: HostVerdict.AddressVerdict) -> JSON {
    .members([
      "address": .string(verdict.address.description),
      "status": .string(verdict.path.status.name),
      "flags": .list(verdict.path.flags.names),
      "reason": .text(verdict.path.reason?.rawValue),
      "route": route(verdict.path),
    ])
  }

  /// Returns the route of a path; null without one.
  static func route(_ path: NetworkPath?) -> JSON {
    guard let path, let type = path.routeType else { return .null }
    return .members([
      "type": .string(type.name),
      "prefix": .text(path.prefix?.description),
      "interface": .text(path.interface?.name),
      "interfaceType": .text(path.interface?.type.rawValue),
      "gateway": .text(path.gateway?.description),
      "source": .text(path.source?.description),
    ])
  }
}
