internal import ArgumentParser
internal import HostProcess
internal import Service

/// The options for the configuration's source, shared by the commands that read it.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The configuration file (YAML); default: REACHD_CONFIG, else none.",
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  func sources(_ flags: [(path: String, flag: String, texts: [String])] = []) -> ConfigurationSources {
    ConfigurationSources(file: config, environment: ProcessEnvironment.all, flags: flags)
  }
}

extension ConfigurationSources {
  /// Loads the configuration, or reports the errors and throws the exit code 78.
  ///
  /// - Parameter secrets: as for ``load(secrets:)``.
  /// - Returns: the settings.
  /// - Throws: the exit code.
  func loadOrExit(secrets: Bool = false) throws -> Configuration {
    do {
      return try load(secrets: secrets)
    } catch {
      for line in error.lines { Terminal.writeError("reachd: \(line)") }
      throw ExitStatus.configuration
    }
  }
}
