internal import HostProcess
internal import YAMLTree

/// Where settings come from.
///
/// A flag wins over the environment, that over the file, that over the default, which for `listen` is in
/// `REACHD_DEFAULT_LISTEN` if that is set.
package struct ConfigurationSources {
  /// Where to listen when nobody says: for an image, whose loopback nobody reaches.
  static let defaultListenVariable = "REACHD_DEFAULT_LISTEN"

  /// The file's path; nil for none.
  var file: String?
  package var environment: [String: String]
  /// Flags that were given: the setting's path, the flag's name, its texts.
  var flags: [(path: String, flag: String, texts: [String])] = []

  /// The sources of one run.
  package init(
    file: String? = nil, environment: [String: String], flags: [(path: String, flag: String, texts: [String])] = []
  ) {
    self.file = file
    self.environment = environment
    self.flags = flags
  }

  /// Reads and checks everything.
  ///
  /// - Parameters:
  ///   - secrets: whether the files of tokens, certificates and keys are read, too; who only asks a service needs none of
  ///     them, and may not be allowed to.
  ///   - started: what a service that runs was started with, if one is to follow. An empty file is somebody's half-written
  ///     one then, and not the wish to lose every setting and target; and where it listens, with the rules of each
  ///     address, stays as it was: rules that are written for another address would open this one.
  /// - Returns: the settings.
  /// - Throws: all that is wrong, in the order of the sources.
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
          location: location, path: setting.path, problem: "\(value) is not possible",
          hint: "expected \(setting.expectation)"))
    }
    // A script whose variable is not set means a file; only a variable of the environment may be empty.
    if file?.isEmpty == true {
      errors.append(
        ConfigurationError(
          location: "--config", problem: "the path is empty", hint: "leave the flag out for no file"))
    }
    if let path = file ?? environment["REACHD_CONFIG"], !path.isEmpty {
      switch Self.read(path, environment, blocking: started == nil) {
      case .success(let file) where file.isEmpty && started != nil:
        errors.append(
          ConfigurationError(location: path, problem: "the file is empty", hint: "{} says that nothing is set"))
      case .success(let file):
        errors += file.errors
        for entry in file.entries { apply(entry.setting, entry.texts, shown: entry.shown, entry.location) }
        for entry in file.records {
          entry.setting.apply(&configuration, entry.records)
          configuration.assigned[entry.setting.path] = entry.records.map(\.description)
        }
        configuration.targets = file.targets
        configuration.modules = file.checks.modules
        configuration.contactPolicy = file.checks.policy
        configuration.assigned.merge(file.checks.assigned(file.targets)) { $1 }
      case .failure(let error): errors.append(error)
      }
    }
    let written = configuration.listeners
    for (setting, texts, at) in others(besides: configuration.assigned) { apply(setting, texts, shown: texts, at) }
    if secrets, let path = configuration.tokensFile {
      errors += loadTokens(path, blocking: started == nil, into: &configuration)
    }
    configuration.unusedRules = written.filter { $0.hasRules && !configuration.listeners.contains($0) }.map(\.address)
    if secrets { errors += configuration.authorityErrors }
    if secrets, started == nil { errors += configuration.unusedRuleErrors }
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

  /// What the environment and the flags say, and where; the default of `listen` where nobody else says it.
  private func others(besides file: [String: [String]]) -> [(setting: Setting, texts: [String], location: String)] {
    var found: [(setting: Setting, texts: [String], location: String)] = []
    for setting in Setting.all {
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      let texts = setting.isList ? text.split(separator: ",").map { Self.trimmed($0) } : [text]
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
    switch Self.read(path, environment, of: .tokens, blocking: blocking) {
    case .success(let file):
      for entry in file.records {
        entry.setting.apply(&configuration, entry.records)
        configuration.assigned["tokensFile", default: []] += entry.records.map(\.description)
      }
      return file.errors
    case .failure(let error): return [error]
    }
  }

  /// A configuration file is some kilobytes, and some megabytes with ten thousand targets; this is what the YAML room
  /// reads at most.
  private static let fileByteLimit = 1 << 22

  /// Reads a file of all settings, or one that is the list of one setting.
  private static func read(
    _ path: String, _ environment: [String: String], of setting: ListSetting? = nil, blocking: Bool
  ) -> Result<ConfigurationFile, ConfigurationError> {
    let bytes: [UInt8]
    do throws(FileReadError) {
      bytes = try FileReader.bytes(of: path, limit: fileByteLimit, blocking: blocking)
    } catch {
      return .failure(ConfigurationError(location: path, problem: error.reason))
    }
    do throws(YAMLError) {
      let root = try YAMLNode.parse(bytes)
      guard let setting else { return .success(ConfigurationFile(root, name: path, environment: environment)) }
      return .success(ConfigurationFile(root, of: setting, name: path, environment: environment))
    } catch {
      return .failure(ConfigurationError(location: "\(path):\(error.line):\(error.column)", problem: error.message))
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
