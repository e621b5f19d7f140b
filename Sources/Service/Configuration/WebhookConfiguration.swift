internal import ReachabilityModel
internal import StatusAPI
internal import Webhooks
internal import YAMLTree

/// The section `webhooks` of a file: the receivers of events.
struct WebhookConfiguration: Sendable {
  static let key = "webhooks"

  /// One webhook as written; its secrets are read from their file later.
  struct Draft: Sendable {
    var definition: WebhookDefinition
    var secretFile: String
    /// Where the file is named, for messages.
    var location: String
    var path: String
  }

  enum Bounds {
    static let timeout = Duration.milliseconds(100)...Duration.seconds(60)
    static let deniedRetry = Duration.zero...Duration.seconds(30 * 86_400)
    static let maximumAge = Duration.seconds(60)...Duration.seconds(30 * 86_400)
    /// Each has a connection, a buffer of 256 KiB and rows of the delivery log.
    static let count = 32
  }

  private(set) var drafts: [Draft] = []
  private static let fields = [
    "id", "url", "secretFile", "types", "states", "targets", "labels", "timeout", "maxAge", "deniedRetry", "insecure",
  ]
  private static let types = (Configuration.machineEventTypes.union(Configuration.fleetEventTypes)).sorted()
  private static let states =
    ["notReachable", "reachable"] + TargetState.allCases.map(\.rawValue) + GateState.allCases.map(\.rawValue)
    + ["partial", "present", "lost", "left"]

  mutating func decode(_ node: YAMLNode, _ reader: inout ConfigurationSectionReader) {
    let form = "- { id: ops, url: \"https://ops.example/hook\", secretFile: /etc/reachd/ops.secret }"
    let elements = reader.elements(node, Self.key, form)
    if elements.count > Bounds.count {
      reader.addError(
        node, Self.key, "there are \(elements.count) webhooks", "at most \(Bounds.count) are possible")
    }
    var first: [String: Int] = [:]
    for (index, element) in elements.prefix(Bounds.count).enumerated() {
      let path = "\(Self.key)[\(index)]"
      guard let draft = Self.webhook(element, path, &reader) else { continue }
      if let line = first[draft.definition.id] {
        reader.addError(
          element["id"] ?? element, "\(path).id", "\(draft.definition.id) is given twice",
          "the first is on line \(line)")
      } else {
        first[draft.definition.id] = element.position.line
        drafts.append(draft)
      }
    }
  }

  private static func webhook(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) -> Draft? {
    let before = reader.errors.count
    var id: String?
    var url: CheckTarget?
    var secretFile: String?
    var isInsecure = false
    var definition = WebhookDefinition(
      id: "", url: CheckTarget(.https, host: .localLink), secrets: [], filter: WebhookFilter())
    for member in reader.members(node, path, known: fields) {
      let (value, at) = (member.value, "\(path).\(member.name)")
      switch member.name {
      case "id": id = Self.id(value, at, &reader)
      case "url": url = Self.url(value, at, &reader)
      case "secretFile": secretFile = reader.value(value, at, .absolutePath)
      case "types": definition.filter.types = set(value, at, types, &reader)
      case "states": definition.filter.states = set(value, at, states, &reader)
      case "targets":
        definition.filter.targets = Set(
          reader.elements(value, at, "[db, web]").compactMap { Self.id($0, at, &reader) })
      case "labels":
        for (name, text) in reader.texts(value, at) { definition.filter.labels[name] = text }
      case "timeout":
        definition.timeout = reader.value(value, at, .duration(Bounds.timeout)) ?? definition.timeout
      case "maxAge":
        definition.maximumAge = reader.value(value, at, .duration(Bounds.maximumAge)) ?? definition.maximumAge
      case "deniedRetry":
        definition.deniedRetry = reader.value(value, at, .duration(Bounds.deniedRetry)) ?? definition.deniedRetry
      default: isInsecure = reader.value(value, at, .boolean) ?? false
      }
    }
    guard node.entries != nil else { return nil }
    for (name, isMissing, hint) in [
      ("id", node["id"] == nil, "an id such as ops"), ("url", node["url"] == nil, "https://host/path"),
      ("secretFile", node["secretFile"] == nil, "a file with a line whsec_…; every request is signed"),
    ] where isMissing { reader.addError(node, path, "\(name) is missing", "expected \(hint)") }
    if let url, url.scheme == .http, !isInsecure {
      reader.addError(
        node["url"] ?? node, "\(path).url", "http sends the events in plain text",
        "use https, or insecure: true for a receiver in a private network")
    }
    guard reader.errors.count == before, let id, let url, let secretFile else { return nil }
    definition.id = id
    definition.url = url
    return Draft(
      definition: definition, secretFile: secretFile, location: reader.location(node["secretFile"] ?? node),
      path: "\(path).secretFile")
  }

  private static func id(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) -> String? {
    reader.value(node, path, "an id of 1 to 68 of a-z, 0-9, dot, underscore and hyphen") { text in
      TargetSpec.isID(text) ? text : nil
    }
  }

  /// A URL may contain a secret, so that messages omit it.
  private static func url(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) -> CheckTarget?
  {
    guard let raw = node.scalar, !node.isNull else {
      reader.addError(node, path, "not a text value", "expected https://host/path")
      return nil
    }
    guard case .success(let text) = VariableSubstitution.expand(raw, in: reader.environment) else {
      return reader.text(node, path).flatMap { _ in nil }
    }
    guard let url = try? CheckTarget(text), url.scheme == .https || url.scheme == .http else {
      reader.addError(
        node, path, "the value is not a URL of a receiver",
        "expected https://host/path without user name, password and fragment")
      return nil
    }
    switch url.host.remote {
    case .name, .address: return url
    case .defaultPath, .localLink:
      reader.addError(node, path, "the URL has no host", "expected https://host/path")
      return nil
    }
  }

  private static func set(
    _ node: YAMLNode, _ path: String, _ known: [String], _ reader: inout ConfigurationSectionReader
  ) -> Set<String> {
    let hint = "one of \(known.joined(separator: ", "))"
    return Set(
      reader.elements(node, path, "[\(known[0])]").compactMap { element in
        reader.value(element, path, hint) { known.contains($0) ? $0 : nil }
      })
  }
}
