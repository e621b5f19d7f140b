internal import ArgumentParser
internal import HostProcess
internal import Service

/// Where the configuration comes from, for the commands that use it.
struct SourceOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "The configuration file (YAML); else REACHD_CONFIG, else none.")
  var config: String?

  func sources(_ flags: [(path: String, flag: String, texts: [String])] = []) -> ConfigurationSources {
    ConfigurationSources(file: config, environment: ProcessEnvironment.all, flags: flags)
  }
}

extension ConfigurationSources {
  /// Loads, or says what is wrong and ends with 78.
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
