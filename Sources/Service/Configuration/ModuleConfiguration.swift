internal import NetworkReachability
internal import YAMLTree

/// One module of the file: the options of a prober, by the prober's name.
enum ModuleConfiguration {
  private static let common = ["prober", "ip"]
  private static let tlsFields = ["serverName", "verify", "authorityFile", "minimumValidity"]
  /// The fields of each prober besides the common ones.
  private static let recipes: [String: [String]] = [
    "route": [],
    "tcp": ["send", "expect", "hosts", "addresses"],
    "icmp": ["count", "spacing", "payloadBytes", "maximumLoss", "maximumRoundTrip", "addresses"],
    "http": [
      "method", "headers", "body", "expectStatus", "expectBody", "rejectBody", "expectHeaders", "maximumRedirects",
      "hosts", "addresses", "httpVersion", "bodyLimit",
    ] + tlsFields,
    "tls": tlsFields + ["hosts", "addresses"],
    "dns": ["tcp", "recursion", "expectCodes", "expectAnswer", "queryName", "queryType", "hosts", "addresses"],
  ]

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
    guard let written = node["prober"] else {
      reader.addError(node, path, "prober is missing", "one of \(recipes.keys.sorted().joined(separator: ", "))")
      return nil
    }
    let probers = recipes.keys.sorted().joined(separator: ", ")
    let prober = reader.value(written, "\(path).prober", "one of \(probers)") { recipes[$0] == nil ? nil : $0 }
    guard let prober, let known = recipes[prober] else { return nil }
    var fields = Fields(path: path)
    for member in reader.members(node, path, known: common + known) { fields.nodes[member.name] = member.value }
    let options: CheckModule.Options =
      switch prober {
      case "tcp": .tcp(fields.tcp(&reader))
      case "icmp": .icmp(fields.icmp(&reader))
      case "http": .http(fields.http(&reader))
      case "tls": .tls(fields.tls(&reader))
      case "dns": .dns(fields.dns(&reader))
      default: .route
      }
    let module = CheckModule(name: name, options: options)
    // A scheme selects its built-in module by this name.
    if let scheme = CheckTarget.Scheme.allCases.first(where: { CheckModule.standard(for: $0).name == name }),
      !module.fits(scheme)
    {
      let hint = "\(name) is the built-in module for \(scheme.rawValue):// targets; give the module another name"
      reader.addError(written, "\(path).prober", "\(prober) is not for \(scheme.rawValue)://", hint)
    }
    let access = fields.nodes["hosts"].flatMap { hosts($0, "\(path).hosts", module, &reader) }
    let family = fields.nodes["ip"].flatMap { reader.choice($0, "\(path).ip", CheckAddressFamily.self) }
    let addresses = fields.nodes["addresses"].flatMap {
      reader.choice($0, "\(path).addresses", CheckAddressSelection.self)
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

  /// The fields of a module, by name.
  private struct Fields {
    var path: String
    var nodes: [String: YAMLNode] = [:]

    /// Stores a field's value, if it is present and valid.
    func set<Value>(
      _ name: String, _ target: inout Value, _ reader: inout ConfigurationSectionReader,
      _ read: (YAMLNode, String, inout ConfigurationSectionReader) -> Value?
    ) {
      guard let node = nodes[name], let value = read(node, "\(path).\(name)", &reader) else { return }
      target = value
    }

    func text(_ name: String, _ target: inout String?, _ reader: inout ConfigurationSectionReader) {
      set(name, &target, &reader) { $2.text($0, $1) }
    }

    func tcp(_ reader: inout ConfigurationSectionReader) -> TCPOptions {
      var options = TCPOptions()
      text("send", &options.send, &reader)
      set("expect", &options.expect, &reader) { $2.pattern($0, $1) }
      return options
    }

    func icmp(_ reader: inout ConfigurationSectionReader) -> ICMPOptions {
      var options = ICMPOptions()
      set("count", &options.count, &reader) { $2.integer($0, $1, 1...ICMPOptions.maximumCount) }
      set("spacing", &options.spacing, &reader) { $2.duration($0, $1, .milliseconds(1) ... .seconds(10)) }
      set("payloadBytes", &options.payloadBytes, &reader) { $2.integer($0, $1, 0...ICMPOptions.largestPayload) }
      set("maximumLoss", &options.maximumLoss, &reader) { $2.fraction($0, $1) }
      set("maximumRoundTrip", &options.maximumRoundTrip, &reader) {
        $2.duration($0, $1, .microseconds(1) ... .seconds(60))
      }
      return options
    }

    func http(_ reader: inout ConfigurationSectionReader) -> HTTPOptions {
      var options = HTTPOptions()
      set("method", &options.method, &reader) {
        $2.value($0, $1, "a method in capitals, such as GET") { text in
          !text.isEmpty && text.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? text : nil
        }
      }
      set("headers", &options.headers, &reader) {
        ModuleConfiguration.headers($0, $1, &$2) { ModuleConfiguration.fieldValue($0, $1, &$2) }
      }
      text("body", &options.body, &reader)
      set("expectStatus", &options.expectStatus, &reader) { ModuleConfiguration.statuses($0, $1, &$2) }
      set("expectBody", &options.expectBody, &reader) { $2.pattern($0, $1) }
      set("rejectBody", &options.rejectBody, &reader) { $2.pattern($0, $1) }
      set("expectHeaders", &options.expectHeaders, &reader) {
        ModuleConfiguration.headers($0, $1, &$2) { $2.pattern($0, $1) }
      }
      set("maximumRedirects", &options.maximumRedirects, &reader) { $2.integer($0, $1, 0...HTTPOptions.redirectLimit) }
      set("bodyLimit", &options.bodyLimit, &reader) { $2.integer($0, $1, 1...HTTPOptions.largestBodyLimit) }
      set("httpVersion", &options.version, &reader) { $2.choice($0, $1, HTTPOptions.VersionChoice.self) }
      options.tls = tls(&reader)
      return options
    }

    func tls(_ reader: inout ConfigurationSectionReader) -> TLSOptions {
      var options = TLSOptions()
      set("serverName", &options.serverName, &reader) { $2.hostName($0, $1) }
      set("verify", &options.verify, &reader) { $2.boolean($0, $1) }
      set("authorityFile", &options.authorityFile, &reader) { $2.absolutePath($0, $1) }
      set("minimumValidity", &options.minimumValidity, &reader) { $2.duration($0, $1) }
      return options
    }

    func dns(_ reader: inout ConfigurationSectionReader) -> DNSOptions {
      var options = DNSOptions()
      set("tcp", &options.usesTCP, &reader) { $2.boolean($0, $1) }
      set("recursion", &options.recursion, &reader) { $2.boolean($0, $1) }
      set("expectCodes", &options.expectCodes, &reader) { node, path, reader in
        let known = DNSOptions.responseCodes.joined(separator: ", ")
        return reader.elements(node, path, "[NOERROR, NXDOMAIN]").compactMap { element in
          reader.value(element, path, "one of \(known)") { text in
            DNSOptions.responseCodes.first { $0 == text.uppercased() }
          }
        }
      }
      set("expectAnswer", &options.expectAnswer, &reader) { $2.pattern($0, $1) }
      options.question = question(&reader)
      return options
    }

    private func question(_ reader: inout ConfigurationSectionReader) -> DNSQuestion? {
      var name = ""
      var type = DNSQuestion.RecordType.a
      set("queryName", &name, &reader) {
        $2.value($0, $1, "a name such as www.example.org") { $0.isEmpty ? nil : try? DNSQuestion.name($0[...]) }
      }
      let known = DNSQuestion.RecordType.allCases.map(\.name).joined(separator: ", ")
      set("queryType", &type, &reader) { $2.value($0, $1, "one of \(known)") { DNSQuestion.RecordType($0) } }
      if let node = nodes["queryType"], nodes["queryName"] == nil {
        reader.addError(node, "\(path).queryType", "queryType requires queryName", "give both")
      }
      return nodes["queryName"] == nil ? nil : DNSQuestion(name: name, type: type)
    }
  }
}
