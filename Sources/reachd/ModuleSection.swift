internal import NetworkReachability
internal import YAMLTree

/// One module of the file: a recipe by its prober's name.
enum ModuleSection {
  private static let common = ["prober", "ip"]
  private static let tlsFields = ["serverName", "verify", "authorityFile", "minimumValidity"]
  /// The fields of each prober besides those that all have.
  private static let recipes: [String: [String]] = [
    "route": [],
    "tcp": ["send", "expect", "hosts"],
    "icmp": ["count", "spacing", "payloadBytes", "maximumLoss", "maximumRoundTrip"],
    "http": [
      "method", "headers", "body", "expectStatus", "expectBody", "rejectBody", "expectHeaders", "maximumRedirects",
      "hosts",
    ] + tlsFields,
    "tls": tlsFields + ["hosts"],
    "dns": ["tcp", "recursion", "expectCodes", "expectAnswer", "queryName", "queryType", "hosts"],
  ]

  static func module(_ member: YAMLNode.Entry, _ path: String, _ reader: inout SectionReader) -> ProbeModule? {
    let before = reader.errors.count
    let (name, node) = (member.name, member.value)
    if !isName(name) {
      let form = "a module's name is 1 to 63 of letters, digits, dot, underscore and hyphen"
      reader.complain(member.key, path, "\(name.prefix(80).debugDescription) is no name", form)
    }
    guard node.entries != nil else {
      _ = reader.members(node, path)
      return nil
    }
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
    let module = ProbeModule(name: name, recipe: recipe)
    // A scheme picks its module by this name.
    if let scheme = ProbeTarget.Scheme.allCases.first(where: { ProbeModule.standard(for: $0).name == name }),
      !module.fits(scheme)
    {
      let hint = "\(name) is what \(scheme.rawValue):// targets are asked by; give the module another name"
      reader.complain(written, "\(path).prober", "\(prober) is not for \(scheme.rawValue)://", hint)
    }
    let access = fields.nodes["hosts"].flatMap { hosts($0, "\(path).hosts", module, &reader) }
    let family = fields.nodes["ip"].flatMap { reader.choice($0, "\(path).ip", FamilyChoice.self) }
    guard reader.errors.count == before else { return nil }
    return ProbeModule(
      name: module.name, recipe: module.recipe, family: family ?? .any, access: access ?? .configuredTargets)
  }

  /// The name stands in bodies, in queries and as a label of series.
  private static func isName(_ text: String) -> Bool {
    (1...63).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
        default: false
        }
      }
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
      set("expect", &recipe.expect, &reader) { $2.pattern($0, $1) }
      return recipe
    }

    func icmp(_ reader: inout SectionReader) -> ICMPRecipe {
      var recipe = ICMPRecipe()
      set("count", &recipe.count, &reader) { $2.integer($0, $1, 1...ICMPRecipe.mostEchoes) }
      set("spacing", &recipe.spacing, &reader) { $2.duration($0, $1, .milliseconds(1) ... .seconds(10)) }
      set("payloadBytes", &recipe.payloadBytes, &reader) { $2.integer($0, $1, 0...ICMPRecipe.largestPayload) }
      set("maximumLoss", &recipe.maximumLoss, &reader) { $2.share($0, $1) }
      set("maximumRoundTrip", &recipe.maximumRoundTrip, &reader) {
        $2.duration($0, $1, .microseconds(1) ... .seconds(60))
      }
      return recipe
    }

    func http(_ reader: inout SectionReader) -> HTTPRecipe {
      var recipe = HTTPRecipe()
      set("method", &recipe.method, &reader) {
        $2.value($0, $1, "a method in capitals, such as GET") { text in
          !text.isEmpty && text.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? text : nil
        }
      }
      set("headers", &recipe.headers, &reader) {
        ModuleSection.headers($0, $1, &$2) { ModuleSection.fieldValue($0, $1, &$2) }
      }
      text("body", &recipe.body, &reader)
      set("expectStatus", &recipe.expectStatus, &reader) { ModuleSection.statuses($0, $1, &$2) }
      set("expectBody", &recipe.expectBody, &reader) { $2.pattern($0, $1) }
      set("rejectBody", &recipe.rejectBody, &reader) { $2.pattern($0, $1) }
      set("expectHeaders", &recipe.expectHeaders, &reader) { ModuleSection.headers($0, $1, &$2) { $2.pattern($0, $1) } }
      set("maximumRedirects", &recipe.maximumRedirects, &reader) { $2.integer($0, $1, 0...HTTPRecipe.mostRedirects) }
      recipe.tls = tls(&reader)
      return recipe
    }

    func tls(_ reader: inout SectionReader) -> TLSRecipe {
      var recipe = TLSRecipe()
      set("serverName", &recipe.serverName, &reader) { $2.hostName($0, $1) }
      set("verify", &recipe.verify, &reader) { $2.flag($0, $1) }
      set("authorityFile", &recipe.authorityFile, &reader) { $2.absolutePath($0, $1) }
      set("minimumValidity", &recipe.minimumValidity, &reader) { $2.duration($0, $1) }
      return recipe
    }

    func dns(_ reader: inout SectionReader) -> DNSRecipe {
      var recipe = DNSRecipe()
      set("tcp", &recipe.usesTCP, &reader) { $2.flag($0, $1) }
      set("recursion", &recipe.recursion, &reader) { $2.flag($0, $1) }
      set("expectCodes", &recipe.expectCodes, &reader) { node, path, reader in
        let known = DNSRecipe.responseCodes.joined(separator: ", ")
        return reader.elements(node, path, "[NOERROR, NXDOMAIN]").compactMap { element in
          reader.value(element, path, "one of \(known)") { text in
            DNSRecipe.responseCodes.first { $0 == text.uppercased() }
          }
        }
      }
      set("expectAnswer", &recipe.expectAnswer, &reader) { $2.pattern($0, $1) }
      recipe.question = question(&reader)
      return recipe
    }

    private func question(_ reader: inout SectionReader) -> DNSQuestion? {
      var name = ""
      var type = DNSQuestion.RecordType.a
      set("queryName", &name, &reader) {
        $2.value($0, $1, "a name such as www.example.org") { $0.isEmpty ? nil : try? DNSQuestion.name($0[...]) }
      }
      let known = DNSQuestion.RecordType.allCases.map(\.name).joined(separator: ", ")
      set("queryType", &type, &reader) { $2.value($0, $1, "one of \(known)") { DNSQuestion.RecordType($0) } }
      if let node = nodes["queryType"], nodes["queryName"] == nil {
        reader.complain(node, "\(path).queryType", "there is no queryName that it is the type of", "give both")
      }
      return nodes["queryName"] == nil ? nil : DNSQuestion(name: name, type: type)
    }
  }
}
