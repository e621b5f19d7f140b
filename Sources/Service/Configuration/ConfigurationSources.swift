internal import HostProcess
internal import TextSyntax
internal import YAMLTree
internal import ReachabilityModel

/// The sources of settings.
///
/// A flag takes precedence over the environment, the environment over the file, and the file over the default. For
/// `listen`, `REACHD_DEFAULT_LISTEN` replaces the default.
package struct ConfigurationSources {
  /// The variable for the default of `listen`, for a container image, whose loopback clients cannot reach.
  static let defaultListenVariable = "REACHD_DEFAULT_LISTEN"

  /// The file's path; nil for none.
  var file: String?
  package var environment: [String: String]
  /// The flags that were given: the setting's path, the flag's name and its texts.
  var flags: [(path: String, flag: String, texts: [String])] = []
  /// The content of the file that counts in place of the present one, while only the files that it names are read again.
  var content: [UInt8]?

  package init(
    file: String? = nil, environment: [String: String], flags: [(path: String, flag: String, texts: [String])] = []
  ) {
    self.file = file
    self.environment = environment
    self.flags = flags
  }

  /// Reads and validates all sources.
  ///
  /// - Parameters:
  ///   - secrets: whether to read the files of tokens, certificates and keys too; client commands need none of them,
  ///     and may not have permission to read them.
  ///   - started: the configuration at the start of a running service that reloads, else nil. The addresses with their
  ///     rules stay unchanged, because rules for another address could remove the restrictions of this one.
  /// - Returns: the settings.
  /// - Throws: all problems, in the order of the sources. An empty file is one, because it may be half written and would
  ///   remove every setting and target.
  package func load(secrets: Bool = true, following started: Configuration? = nil) throws(ConfigurationErrors)
    -> Configuration
  {
    var errors: [ConfigurationError] = []
    var configuration = Configuration()
    func apply(_ setting: Setting, _ texts: [String], shown: [String], _ location: String) {
      guard !setting.apply(&configuration, texts) else {
        configuration.assigned[setting.path] = texts
        return
      }
      let value = shown.isEmpty ? "an empty list" : shown.map(ConfigurationError.quoted).joined(separator: ", ")
      errors.append(
        ConfigurationError(
          location: location, path: setting.path, problem: "\(value) is invalid",
          hint: "expected \(setting.expectation)"))
    }
    // An empty argument comes from an unset variable of a script, which means a file; only environment variables may be
    // empty.
    if file?.isEmpty == true {
      errors.append(
        ConfigurationError(location: "--config", problem: "the path is empty", hint: "omit the flag for no file"))
    }
    if let path = file ?? environment["REACHD_CONFIG"], !path.isEmpty {
      configuration.willRead(path)
      switch Self.bytes(of: path, content, blocking: started == nil).flatMap({ bytes in
        configuration.source = (path, bytes)
        return Self.parse(bytes, path, environment)
      }) {
      case .success(let file) where file.isEmpty:
        errors.append(
          ConfigurationError(location: path, problem: "the file is empty", hint: "write {} for a file without settings")
        )
      case .success(let file):
        errors += file.errors
        for entry in file.entries { apply(entry.setting, entry.texts, shown: entry.shown, entry.location) }
        for entry in file.records {
          entry.setting.apply(&configuration, entry.records)
          configuration.assigned[entry.setting.path] = entry.records.map(\.description)
        }
        errors += configuration.adopt(file, secrets: secrets, blocking: started == nil)
      case .failure(let error): errors.append(error)
      }
    }
    let written = configuration.listeners
    for (setting, texts, at) in others(besides: configuration.assigned) { apply(setting, texts, shown: texts, at) }
    if secrets, let path = configuration.tokensFile {
      errors += loadTokens(path, blocking: started == nil, into: &configuration)
    }
    configuration.unusedRules = written.filter { $0.hasRules && !configuration.listeners.contains($0) }.map(\.address)
    if secrets { errors += configuration.authorityErrors + (started == nil ? configuration.unusedRuleErrors : []) }
    if secrets, errors.isEmpty {
      errors = configuration.conflicts + configuration.loadIdentities(blocking: started == nil)
    }
    if let started, errors.isEmpty {
      configuration.listeners = started.listeners
      errors = configuration.conflicts + configuration.loadIdentities(blocking: false)
    }
    guard errors.isEmpty else { throw ConfigurationErrors(errors: errors) }
    return configuration
  }

  /// Returns the texts of the environment and the flags with their places, and the default of `listen` if not set.
  private func others(besides file: [String: [String]]) -> [(setting: Setting, texts: [String], location: String)] {
    var found: [(setting: Setting, texts: [String], location: String)] = []
    for setting in Setting.all {
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      let texts = setting.isList ? text.split(separator: ",").map(\.trimmed) : [text]
      found.append((setting, texts, setting.variable))
    }
    for (path, flag, texts) in flags where !texts.isEmpty {
      if let setting = Setting.all.first(where: { $0.path == path }) { found.append((setting, texts, flag)) }
    }
    if file["listen"] == nil, !found.contains(where: { $0.setting.path == "listen" }),
      let setting = Setting.all.first(where: { $0.path == "listen" }),
      let text = environment[Self.defaultListenVariable],
      !text.isEmpty
    {
      found.append((setting, [text], Self.defaultListenVariable))
    }
    return found
  }

  private func loadTokens(
    _ path: String, blocking: Bool, into configuration: inout Configuration
  ) -> [ConfigurationError] {
    configuration.willRead(path)
    switch Self.bytes(of: path, blocking: blocking).flatMap({ Self.parse($0, path, environment, of: .tokens) }) {
    case .success(let file):
      for entry in file.records {
        entry.setting.apply(&configuration, entry.records)
        configuration.assigned["tokensFile", default: []] += entry.records.map(\.description)
      }
      return file.errors
    case .failure(let error): return [error]
    }
  }

  /// The largest file to read, in bytes, which is also the limit of `YAMLTree`.
  ///
  /// A configuration has some kilobytes, and some megabytes with ten thousand targets.
  private static let fileByteLimit = 1 << 22

  private static func bytes(
    of path: String, _ known: [UInt8]? = nil, blocking: Bool
  ) -> Result<[UInt8], ConfigurationError> {
    if let known { return .success(known) }
    do throws(FileReadError) {
      return .success(try FileReader.bytes(of: path, limit: fileByteLimit, blocking: blocking))
    } catch {
      return .failure(ConfigurationError(location: path, problem: error.reason))
    }
  }

  /// Parses a file of all settings, or a file that contains the list of one setting.
  private static func parse(
    _ bytes: [UInt8], _ path: String, _ environment: [String: String], of setting: ListSetting? = nil
  ) -> Result<ConfigurationFile, ConfigurationError> {
    do throws(YAMLError) {
      let root = try YAMLNode.parse(bytes)
      guard let setting else { return .success(ConfigurationFile(root, name: path, environment: environment)) }
      return .success(ConfigurationFile(root, of: setting, name: path, environment: environment))
    } catch {
      return .failure(ConfigurationError(location: "\(path):\(error.line):\(error.column)", problem: error.message))
    }
  }
}

extension Configuration {
  /// Takes the sections of a file that are not flat settings; returns the problems of the files that they name.
  fileprivate mutating func adopt(
    _ file: ConfigurationFile, secrets: Bool, blocking: Bool
  ) -> [ConfigurationError] {
    targets = file.targets
    gates = file.gates.definitions
    modules = file.checks.modules
    contactPolicy = file.checks.policy
    assigned.merge(file.checks.assigned(file.targets)) { $1 }
    if !gates.isEmpty { assigned[GateConfiguration.key] = gates.map { String($0.hashValue) } }
    if !file.webhooks.drafts.isEmpty {
      assigned[WebhookConfiguration.key] = file.webhooks.drafts.map { "\($0.definition)" }
    }
    guard secrets else { return [] }
    webhookFiles = file.webhooks.drafts.map(\.secretFile)
    for path in webhookFiles { willRead(path) }
    let loaded = file.webhooks.load(blocking: blocking)
    webhooks = loaded.webhooks
    return loaded.errors
  }
}
