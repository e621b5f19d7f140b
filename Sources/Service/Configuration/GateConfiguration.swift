internal import ReachabilityModel
internal import YAMLTree

/// The section `gates` of a file: what programs need, as one condition each.
struct GateConfiguration: Sendable {
  static let key = "gates"

  /// The valid gates.
  private(set) var definitions: [GateDefinition] = []

  /// Reads the section.
  mutating func decode(_ node: YAMLNode, _ reader: inout ConfigurationSectionReader) {
    let members = reader.members(node, Self.key)
    if members.count > GateSpec.Bounds.gates {
      reader.addError(
        node, Self.key, "there are \(members.count) gates", "at most \(GateSpec.Bounds.gates) are possible")
    }
    definitions = members.prefix(GateSpec.Bounds.gates).compactMap { member in
      Self.gate(member, "\(Self.key).\(ConfigurationError.truncated(member.name))", &reader)
    }
    let names = definitions.reduce(0) { $0 + $1.targets.count }
    if names > GateSpec.Bounds.allTargets {
      reader.addError(
        node, Self.key, "the gates name \(names) targets",
        "at most \(GateSpec.Bounds.allTargets) are possible; select more by labels")
    }
  }

  private static func gate(
    _ member: YAMLNode.Entry, _ path: String, _ reader: inout ConfigurationSectionReader
  ) -> GateDefinition? {
    let before = reader.errors.count
    var spec = GateSpec(id: member.name)
    var nodes: [GateSpec.Field: YAMLNode] = [:]
    var unreadable: Set<GateSpec.Field> = []
    for entry in reader.members(member.value, path, known: GateSpec.Field.allCases.map(\.rawValue)) {
      guard let field = GateSpec.Field(rawValue: entry.name) else { continue }
      nodes[field] = entry.value
      let count = reader.errors.count
      decode(field, entry.value, "\(path).\(entry.name)", into: &spec, &reader)
      if reader.errors.count > count { unreadable.insert(field) }
    }
    let isReadable = reader.errors.count == before
    do throws(GateSpec.Faults) {
      let definition = try spec.definition(except: unreadable)
      return isReadable ? definition : nil
    } catch {
      // That the gate requires nothing may follow from an unknown key.
      for fault in error.faults where isReadable || fault.field != nil || !TargetSpec.isID(spec.id) {
        let field = fault.field.map { "\(path).\($0.rawValue)" } ?? path
        reader.addError(fault.field.flatMap { nodes[$0] } ?? member.key, field, fault.problem, fault.hint)
      }
      return nil
    }
  }

  private static func decode(
    _ field: GateSpec.Field, _ node: YAMLNode, _ path: String, into spec: inout GateSpec,
    _ reader: inout ConfigurationSectionReader
  ) {
    switch field {
    case .machine:
      guard node.entries != nil else { return spec.machine = reader.text(node, path, "reachable") }
      for member in reader.members(node, path, known: ["connectionType"]) {
        spec.connectionType = reader.text(member.value, "\(path).connectionType", "ethernetOrWiFi or wwan")
      }
      if node.entries?.isEmpty == true {
        reader.addError(node, path, "connectionType is missing", "write { connectionType: ethernetOrWiFi }")
      }
    case .targets:
      spec.targets = reader.elements(node, path, "[db, cache]").compactMap { reader.text($0, path, "an id such as db") }
    case .select:
      for (name, value) in reader.texts(node, path) { spec.selection[name] = value }
    case .clients: spec.includesClients = reader.value(node, path, .boolean) ?? false
    case .atLeast: spec.atLeast = reader.text(node, path, "all, a number such as 2, or a percentage such as 50%")
    case .openAfter:
      spec.openAfter = reader.value(node, path, .duration(GateSpec.Bounds.openAfter)) ?? spec.openAfter
    case .paused: spec.paused = reader.text(node, path, "close or ignore")
    }
  }
}
