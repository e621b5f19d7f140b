internal import ReachabilityChecks
internal import TextSyntax
internal import YAMLTree

/// The sections `targets`, `modules` and `policy` of a file: what is checked and how, and what clients may check.
struct CheckConfiguration {
  static let keys = ["targets", "modules", "policy"]

  private(set) var modules: [CheckModule] = []
  private(set) var policy = ContactPolicy()
  /// The names of invalid modules, so that a target that names one of them is not reported too.
  private var invalidModules: Set<String> = []
  /// The targets as written; their modules are known only at the end of the file.
  private var drafts: [(draft: TargetSpec, node: YAMLNode, path: String, fields: [String: YAMLNode])] = []

  /// The texts of the sections, to detect changes.
  func assigned(_ targets: [TargetDefinition]) -> [String: [String]] {
    var given: [String: [String]] = [:]
    // Hash values only say whether a value has changed. Texts would need reflection, 150 µs for each target.
    if !targets.isEmpty { given["targets"] = targets.map { String($0.hashValue) } }
    if !modules.isEmpty { given["modules"] = modules.map { String($0.hashValue) } }
    if policy != ContactPolicy() { given["policy"] = [String(policy.hashValue)] }
    return given
  }

  mutating func decode(_ key: String, _ node: YAMLNode, _ reader: inout ConfigurationSectionReader) {
    switch key {
    case "modules":
      for member in reader.members(node, key) {
        if let module = ModuleConfiguration.module(member, "modules.\(member.name)", &reader) {
          modules.append(module)
        } else {
          invalidModules.insert(member.name)
        }
      }
    case "policy": decodePolicy(node, &reader)
    default:
      let form = "- { id: db, target: \"tcp://db:5432\" }"
      for (index, element) in reader.elements(node, key, form).enumerated() {
        decodeTarget(element, "targets[\(index)]", &reader)
      }
    }
  }

  // MARK: - Policy

  private mutating func decodePolicy(_ node: YAMLNode, _ reader: inout ConfigurationSectionReader) {
    for member in reader.members(node, "policy", known: ["profile", "allow", "deny"]) {
      let path = "policy.\(member.name)"
      switch member.name {
      case "profile":
        policy.profile = reader.value(member.value, path, .choice) ?? policy.profile
      case "allow": policy.allow = blocks(member.value, path, &reader)
      default: policy.deny = blocks(member.value, path, &reader)
      }
    }
  }

  private func blocks(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) -> [IPPrefix] {
    reader.elements(node, path, "[\"10.0.0.0/8\", \"2001:db8::/32\"]").compactMap { element in
      reader.value(element, path, "an address, or a block such as 10.0.0.0/8") { Self.block($0) }
    }
  }

  private static func block(_ text: String) -> IPPrefix? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
    guard parts.count > 1 else { return IPPrefix(address, length: address.family.bitCount) }
    guard let length = UInt8(parts[1]), length <= address.family.bitCount else { return nil }
    return IPPrefix(address, length: length)
  }

  // MARK: - Targets

  private mutating func decodeTarget(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) {
    let before = reader.errors.count
    var draft = TargetSpec()
    var fields: [String: YAMLNode] = [:]
    for member in reader.members(node, path, known: TargetSpec.Field.allCases.map(\.rawValue)) {
      let location = "\(path).\(member.name)"
      fields[member.name] = member.value
      guard let field = TargetSpec.Field(rawValue: member.name) else { continue }
      switch field {
      case .id: draft.id = reader.text(member.value, location)
      case .target: draft.target = reader.text(member.value, location, "a target such as tcp://db:5432")
      case .module: draft.module = reader.text(member.value, location, "the name of a module")
      case .interval: draft.interval = reader.value(member.value, location, .duration)
      case .timeout: draft.timeout = reader.value(member.value, location, .duration)
      case .fastInterval: draft.fastInterval = reader.value(member.value, location, .duration)
      case .fall: draft.fall = reader.value(member.value, location, .integer(TargetSpec.Bounds.count))
      case .rise: draft.rise = reader.value(member.value, location, .integer(TargetSpec.Bounds.count))
      case .paused: draft.isPaused = reader.value(member.value, location, .boolean) ?? false
      case .dependsOn: draft.dependsOn = Self.dependencies(member.value, location, &reader)
      case .labels:
        for (name, value) in reader.texts(member.value, location) {
          draft.labels[name] = value
          fields["labels/\(name)"] = member.value[name]
        }
      }
    }
    if reader.errors.count == before, node.entries != nil { drafts.append((draft, node, path, fields)) }
  }

  private static func dependencies(
    _ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader
  ) -> [TargetDependency] {
    reader.elements(node, path, "[core-router, { anyOf: [isp-a, isp-b] }]").enumerated().compactMap { index, entry in
      let place = "\(path)[\(index)]"
      guard entry.entries != nil else {
        return reader.text(entry, place, "the id of a target").map { TargetDependency($0) }
      }
      guard let list = reader.members(entry, place, known: ["anyOf"]).first else { return nil }
      let ids = reader.elements(list.value, "\(place).anyOf", "[isp-a, isp-b]")
      return TargetDependency(anyOf: ids.compactMap { reader.text($0, "\(place).anyOf", "the id of a target") })
    }
  }

  /// Returns the validated targets; each problem is reported with the place of the field.
  func definitions(_ reader: inout ConfigurationSectionReader) -> [TargetDefinition] {
    let before = reader.errors.count
    let targets = validTargets(&reader)
    // A target with another fault would be missing for those that depend on it.
    guard reader.errors.count == before else { return targets }
    let faults = DependencyRules.faults(in: targets)
    for (draft, node, path, fields) in drafts {
      guard let id = draft.id, let fault = faults[id] else { continue }
      var hint = fault.hint
      if case .unknown(let parent) = fault {
        hint = EditDistance.suggestion(for: parent, among: targets.map(\.id)) ?? hint
      }
      reader.addError(fields["dependsOn"] ?? node, "\(path).dependsOn", fault.problem, hint)
    }
    return targets
  }

  private func validTargets(_ reader: inout ConfigurationSectionReader) -> [TargetDefinition] {
    var first: [String: Int] = [:]
    return drafts.compactMap { draft, node, path, fields in
      let definition: TargetDefinition
      do throws(TargetSpec.Faults) {
        definition = try draft.definition(modules: modules)
      } catch {
        for fault in error.faults where fault.field != .module || !invalidModules.contains(draft.module ?? "") {
          let field = fault.field.rawValue
          let location = fault.label.flatMap { fields["labels/\($0)"] } ?? fields[field] ?? node
          reader.addError(location, "\(path).\(field)", fault.problem, fault.hint)
        }
        return nil
      }
      if let line = first[definition.id] {
        reader.addError(
          fields["id"] ?? node, "\(path).id", "\(definition.id) is given twice", "the first is on line \(line)")
        return nil
      }
      first[definition.id] = node.position.line
      return definition
    }
  }
}
