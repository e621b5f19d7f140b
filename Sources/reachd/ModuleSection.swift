internal import NetworkReachability
internal import YAMLTree

/// One module of the file: a recipe by its prober's name.
enum ModuleSection {
  private static let common = ["prober", "ip"]
  private static let tlsFields = ["serverName", "verify", "authorityFile", "minimumValidity"]
  /// The fields of each prober besides those that all have.
  private static let recipes: [String: [String]] = [
    "route": [],
    "tcp": ["send", "expect"],
    "icmp": ["count", "spacing", "payloadBytes", "maximumLoss", "maximumRoundTrip"],
    "http": [
      "method", "headers", "body", "expectStatus", "expectBody", "rejectBody", "expectHeaders", "maximumRedirects",
    ] + tlsFields,
    "tls": tlsFields,
    "dns": ["tcp", "recursion", "expectCodes", "expectAnswer"],
  ]

  static func module(
    _ name: String, _ node: YAMLNode, _ path: String, _ reader: inout SectionReader
  ) -> ProbeModule? {
    let before = reader.errors.count
    guard let written = node["prober"] else {
      reader.complain(node, path, "prober is missing", "one of \(recipes.keys.sorted().joined(separator: ", "))")
      return nil
    }
    let probers = recipes.keys.sorted().joined(separator: ", ")
    let prober = reader.value(written, "\(path).prober", "one of \(probers)") { recipes[$0] == nil ? nil : $0 }
    guard let prober, let known = recipes[prober] else { return nil }
    var fields = Fields(path: path)
    for member in reader.members(node, path, known: common + known) { fields.nodes[member.name] = member.value }
    let recipe: ProbeModule.Recipe =
      switch prober {
      case "tcp": .tcp(fields.tcp(&reader))
      case "icmp": .icmp(fields.icmp(&reader))
      case "http": .http(fields.http(&reader))
      case "tls": .tls(fields.tls(&reader))
      case "dns": .dns(fields.dns(&reader))
      default: .route
      }
    let family = fields.nodes["ip"].flatMap { reader.choice($0, "\(path).ip", FamilyChoice.self) }
    guard reader.errors.count == before else { return nil }
    return ProbeModule(name: name, recipe: recipe, family: family ?? .any)
  }

  /// The fields that a module gives, by name.
  private struct Fields {
    var path: String
    var nodes: [String: YAMLNode] = [:]

    /// Puts a field's value, if it is there and possible.
    func set<Value>(
      _ name: String, _ target: inout Value, _ reader: inout SectionReader,
      _ read: (YAMLNode, String, inout SectionReader) -> Value?
    ) {
      guard let node = nodes[name], let value = read(node, "\(path).\(name)", &reader) else { return }
      target = value
    }

    func text(_ name: String, _ target: inout String?, _ reader: inout SectionReader) {
      set(name, &target, &reader) { $2.text($0, $1) }
    }

    func tcp(_ reader: inout SectionReader) -> TCPRecipe {
      var recipe = TCPRecipe()
      text("send", &recipe.send, &reader)
      text("expect", &recipe.expect, &reader)
      return recipe
    }

    func icmp(_ reader: inout SectionReader) -> ICMPRecipe {
      var recipe = ICMPRecipe()
      set("count", &recipe.count, &reader) { $2.integer($0, $1, 1...100) }
      set("spacing", &recipe.spacing, &reader) { $2.duration($0, $1) }
      set("payloadBytes", &recipe.payloadBytes, &reader) { $2.integer($0, $1, 0...65_000) }
      set("maximumLoss", &recipe.maximumLoss, &reader) { $2.share($0, $1) }
      set("maximumRoundTrip", &recipe.maximumRoundTrip, &reader) { $2.duration($0, $1) }
      return recipe
    }

    func http(_ reader: inout SectionReader) -> HTTPRecipe {
      var recipe = HTTPRecipe()
      set("method", &recipe.method, &reader) {
        $2.value($0, $1, "a method in capitals, such as GET") { text in
          !text.isEmpty && text.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? text : nil
        }
      }
      set("headers", &recipe.headers, &reader) { Self.headers($0, $1, &$2) }
      text("body", &recipe.body, &reader)
      set("expectStatus", &recipe.expectStatus, &reader) { Self.statuses($0, $1, &$2) }
      text("expectBody", &recipe.expectBody, &reader)
      text("rejectBody", &recipe.rejectBody, &reader)
      set("expectHeaders", &recipe.expectHeaders, &reader) { Self.headers($0, $1, &$2) }
      set("maximumRedirects", &recipe.maximumRedirects, &reader) { $2.integer($0, $1, 0...3) }
      recipe.tls = tls(&reader)
      return recipe
    }

    private static func headers(_ node: YAMLNode, _ path: String, _ reader: inout SectionReader) -> [HTTPRecipe.Field] {
      reader.texts(node, path).map { HTTPRecipe.Field(name: $0.name, value: $0.value) }
    }

    /// Codes, and ranges of them: `[200, "300-399"]`.
    private static func statuses(
      _ node: YAMLNode, _ path: String, _ reader: inout SectionReader
    ) -> [ClosedRange<Int>] {
      reader.elements(node, path, "[200, \"300-399\"]").compactMap { element in
        reader.value(element, path, "a status code from 100 to 599, or a range such as 300-399") { text in
          let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
          guard (1...2).contains(bounds.count), let first = bounds.first ?? nil, let last = bounds.last ?? nil,
            (100...599).contains(first), (first...599).contains(last)
          else { return nil }
          return first...last
        }
      }
    }

    func tls(_ reader: inout SectionReader) -> TLSRecipe {
      var recipe = TLSRecipe()
      text("serverName", &recipe.serverName, &reader)
      set("verify", &recipe.verify, &reader) { $2.flag($0, $1) }
      text("authorityFile", &recipe.authorityFile, &reader)
      set("minimumValidity", &recipe.minimumValidity, &reader) { $2.duration($0, $1) }
      return recipe
    }

    func dns(_ reader: inout SectionReader) -> DNSRecipe {
      var recipe = DNSRecipe()
      set("tcp", &recipe.usesTCP, &reader) { $2.flag($0, $1) }
      set("recursion", &recipe.recursion, &reader) { $2.flag($0, $1) }
      set("expectCodes", &recipe.expectCodes, &reader) { node, path, reader in
        reader.elements(node, path, "[NOERROR, NXDOMAIN]").compactMap { reader.text($0, path)?.uppercased() }
      }
      text("expectAnswer", &recipe.expectAnswer, &reader)
      return recipe
    }
  }
}
