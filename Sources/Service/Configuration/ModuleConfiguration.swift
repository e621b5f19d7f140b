internal import NetworkReachability
internal import YAMLTree

/// One module of the file: the options of a prober, by the prober's name.
enum ModuleConfiguration {
  private static let common = ["prober", "ip"]

  static func module(_ member: YAMLNode.Entry, _ path: String, _ reader: inout ConfigurationSectionReader)
    -> CheckModule?
  {
    let before = reader.errors.count
    let (name, node) = (member.name, member.value)
    if !isName(name) {
      let form = "a module's name is 1 to 63 of letters, digits, dot, underscore and hyphen"
      reader.addError(member.key, path, "\(name.prefix(80).debugDescription) is not a valid name", form)
    }
    guard node.entries != nil else {
      _ = reader.members(node, path)
      return nil
    }
    let types = CheckModule.Options.types.sorted { $0.prober < $1.prober }
    let probers = "one of \(types.map { $0.prober }.joined(separator: ", "))"
    guard let written = node["prober"] else {
      reader.addError(node, path, "prober is missing", probers)
      return nil
    }
    let found = reader.value(written, "\(path).prober", probers) { name in types.first { $0.prober == name } }
    guard let type = found else { return nil }
    var fields = ModuleFields(path: path, reader: reader)
    for member in fields.reader.members(node, path, known: common + type.keys) {
      fields.nodes[member.name] = member.value
    }
    var options = type.init()
    options.read(&fields)
    let module = CheckModule(name: name, options: CheckModule.Options(options))
    reader = fields.reader
    // A scheme selects its built-in module by this name.
    if let scheme = CheckTarget.Scheme.allCases.first(where: { CheckModule.standard(for: $0).name == name }),
      !module.fits(scheme)
    {
      let hint = "\(name) is the built-in module for \(scheme.rawValue):// targets; give the module another name"
      reader.addError(written, "\(path).prober", "\(type.prober) is not for \(scheme.rawValue)://", hint)
    }
    let access = fields.nodes["hosts"].flatMap { hosts($0, "\(path).hosts", module, &reader) }
    let family = fields.nodes["ip"].flatMap { reader.value($0, "\(path).ip", FieldFormat<CheckAddressFamily>.choice) }
    let addresses = fields.nodes["addresses"].flatMap {
      reader.value($0, "\(path).addresses", FieldFormat<CheckAddressSelection>.choice)
    }
    guard reader.errors.count == before else { return nil }
    return CheckModule(
      name: module.name, options: module.options, family: family ?? .any, addresses: addresses ?? .any,
      access: access ?? .configuredTargets)
  }

  /// The name appears in bodies, in queries and as a label of metrics.
  private static func isName(_ text: String) -> Bool {
    (1...63).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
        default: false
        }
      }
  }
}
