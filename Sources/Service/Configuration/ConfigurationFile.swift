internal import NetworkReachability
internal import TextSyntax
internal import YAMLTree

/// A configuration file as written: the settings in it, as texts with their places.
struct ConfigurationFile {
  /// A setting with its texts and its place.
  struct Assignment {
    var setting: Setting
    var texts: [String]
    /// The texts as written, for error messages, so that the values of variables stay secret.
    var shown: [String]
    var location: String
  }

  private(set) var entries: [Assignment] = []
  private(set) var records: [(setting: ListSetting, records: [ListSetting.Record])] = []
  /// The sections for targets, modules and the policy, for webhooks, and for gates.
  private(set) var checks = CheckConfiguration()
  private(set) var webhooks = WebhookConfiguration()
  private(set) var gates = GateConfiguration()
  private(set) var targets: [TargetDefinition] = []
  private(set) var errors: [ConfigurationError] = []
  /// Whether the file is empty, except for comments.
  private(set) var isEmpty = false

  /// Reads the tree of a file; error messages contain `name`, and `environment` resolves `${NAME}`.
  init(_ root: YAMLNode?, name: String, environment: [String: String]) {
    // An empty file is valid, because every setting has a default.
    guard let root, !root.isNull else {
      isEmpty = true
      return
    }
    read(root, path: "", Context(name: name, environment: environment))
    var reader = ConfigurationSectionReader(name: name, environment: environment)
    targets = checks.definitions(&reader)
    errors += reader.errors
  }

  /// Reads the tree of a file that contains only the list of one setting.
  init(_ root: YAMLNode?, of setting: ListSetting, name: String, environment: [String: String]) {
    guard let root, !root.isNull else { return }
    decode(setting, root, Context(name: name, environment: environment))
  }

  static let sections = CheckConfiguration.keys + [GateConfiguration.key, WebhookConfiguration.key]

  private struct Context {
    var name: String
    var environment: [String: String]

    func at(_ node: YAMLNode) -> String { "\(name):\(node.position.line):\(node.position.column)" }
  }

  private mutating func read(_ node: YAMLNode, path: String, _ context: Context) {
    guard let members = node.entries else {
      return errors.append(
        ConfigurationError(
          location: context.at(node), path: path, problem: "a mapping is expected here", hint: "write key: value"))
    }
    for member in members {
      let key = path.isEmpty ? member.name : "\(path).\(member.name)"
      // `access.reads: open` beside `access: { reads: token }` would be a duplicate that is not detected.
      if member.name.contains(".") {
        errors.append(
          ConfigurationError(
            location: context.at(member.key), path: ConfigurationError.truncated(key), problem: "a key has no dots",
            hint: "write it as a mapping in a mapping, {a: {b: …}} for a.b"))
        continue
      }
      let list = ListSetting.all.first { $0.path == key }
      let isList = member.value.entries != nil || member.value.elements?.contains { $0.entries != nil } ?? false
      let isSection = Setting.all.contains { $0.path.hasPrefix(key + ".") }
      if let setting = Setting.all.first(where: { $0.path == key }), list == nil || !isList {
        decode(setting, member.value, context)
      } else if member.value.isNull, list != nil || isSection || Self.sections.contains(key) {
        // A rule that is commented out or not written yet must not remove a restriction.
        errors.append(
          ConfigurationError(
            location: context.at(member.key), path: key, problem: "missing value",
            hint: "leave the key out, or write {} or [] for none"))
      } else if let list {
        decode(list, member.value, context)
      } else if Self.sections.contains(key) {
        var reader = ConfigurationSectionReader(name: context.name, environment: context.environment)
        switch key {
        case WebhookConfiguration.key: webhooks.decode(member.value, &reader)
        case GateConfiguration.key: gates.decode(member.value, &reader)
        default: checks.decode(key, member.value, &reader)
        }
        errors += reader.errors
      } else if isSection {
        read(member.value, path: key, context)
      } else {
        errors.append(
          ConfigurationError(
            location: context.at(member.key), path: ConfigurationError.truncated(key), problem: "unknown key",
            hint: Self.suggestion(for: key)))
      }
    }
  }

  private mutating func decode(_ setting: Setting, _ node: YAMLNode, _ context: Context) {
    guard let texts = texts(node, isList: setting.isList, setting.path, setting.expectation, context) else { return }
    let shown = (setting.isList ? node.elements ?? [node] : [node]).compactMap(\.scalar)
    entries.append(Assignment(setting: setting, texts: texts, shown: shown, location: context.at(node)))
  }

  /// Returns the texts of a value or of a list of values; nil, with an error, for anything else.
  private mutating func texts(
    _ node: YAMLNode, isList: Bool, _ path: String, _ expectation: String, _ context: Context
  ) -> [String]? {
    var texts: [String] = []
    for node in isList ? node.elements ?? [node] : [node] {
      guard let raw = node.scalar, !node.isNull else {
        errors.append(
          ConfigurationError(
            location: context.at(node), path: path, problem: "not a text value", hint: "expected \(expectation)"))
        return nil
      }
      switch VariableSubstitution.expand(raw, in: context.environment) {
      case .success(let text): texts.append(text)
      case .failure(let problem):
        errors.append(
          ConfigurationError(
            location: context.at(node), path: path, problem: problem.text, hint: "set it, or write $$ for a $"))
        return nil
      }
    }
    return texts
  }

  // MARK: - Lists of mappings

  private mutating func decode(_ setting: ListSetting, _ node: YAMLNode, _ context: Context) {
    guard let elements = node.elements else {
      let names = setting.fields.map { "\($0.name): …" }.joined(separator: ", ")
      errors.append(
        ConfigurationError(
          location: context.at(node), path: setting.path, problem: "a list is expected here",
          hint: "write - { \(names) }"))
      return
    }
    let taken = elements.enumerated().compactMap { index, element in
      record(setting, element, path: "\(setting.path)[\(index)]", context)
    }
    if taken.count == elements.count { records.append((setting, taken)) }
  }

  /// Returns one mapping with valid values; nil, with errors, for an invalid one.
  private mutating func record(
    _ setting: ListSetting, _ node: YAMLNode, path: String, _ context: Context
  ) -> ListSetting.Record? {
    let before = errors.count
    var record = ListSetting.Record()
    func makeError(_ node: YAMLNode, _ path: String, _ problem: String, _ hint: String) -> ConfigurationError {
      ConfigurationError(location: context.at(node), path: path, problem: problem, hint: hint)
    }
    let short = setting.shorthand.flatMap { name in
      node.scalar.map { _ in
        [
          YAMLNode.Entry(
            key: .init(position: node.position, value: .scalar(name, isPlain: true, tag: nil)), value: node)
        ]
      }
    }
    guard let members = node.entries ?? short else {
      errors.append(makeError(node, path, "a mapping is expected here", "write key: value"))
      return nil
    }
    for member in setting.flattened(members) {
      let key = "\(path).\(member.name)"
      guard let field = setting.fields.first(where: { $0.name == member.name }) else {
        let known = setting.fields.map(\.name)
        let hint =
          EditDistance.suggestion(for: member.name, among: known) ?? "there are \(known.joined(separator: ", "))"
        errors.append(makeError(member.key, ConfigurationError.truncated(key), "unknown key", hint))
        continue
      }
      guard let texts = texts(member.value, isList: field.isList, key, field.expectation, context) else { continue }
      guard field.isValid(texts) else {
        // As written, so that the values of variables stay secret.
        let shown = (field.isList ? member.value.elements ?? [member.value] : [member.value]).compactMap(\.scalar)
        let value = field.isSecret ? "the value" : shown.map(ConfigurationError.quoted).joined(separator: ", ")
        errors.append(
          makeError(
            member.value, key, value.isEmpty ? "an empty list is invalid" : "\(value) is invalid",
            "expected \(field.expectation)"))
        continue
      }
      record.fields[field.name] = texts
    }
    for field in setting.fields where field.isRequired && !members.contains(where: { $0.name == field.name }) {
      errors.append(makeError(node, path, "\(field.name) is missing", "expected \(field.expectation)"))
    }
    return errors.count == before ? record : nil
  }
}
