internal import HostProcess
internal import NATSClient
internal import ReachabilityFleet
internal import ReachabilityModel
internal import Service

/// The fleet's settings in the terms of the engine.
enum FleetSettings {
  /// The bytes of a file with credentials.
  private static let credentialBytes = 65_536

  static func problems(_ fleet: FleetConfiguration) -> [ConfigurationError] {
    var errors = fleet.missing
    if case .failure(let error) = credentials(fleet) { errors.append(error) }
    if let file = fleet.authorityFile, let reason = unreadable(file) {
      errors.append(ConfigurationError(location: "configuration", path: "fleet.ca", problem: "\(file): \(reason)"))
    }
    return errors
  }

  /// The settings of a connection.
  ///
  /// - Parameters:
  ///   - fleet: the settings.
  ///   - role: the user's: `agent` or `replica`.
  ///   - purpose: what a second connection is for, whose subscriptions have threads of their own.
  /// - Returns: the settings of the client.
  static func connection(_ fleet: FleetConfiguration, role: String, _ purpose: String? = nil) -> NATSConfiguration {
    let id = fleet.id ?? ""
    let token = FleetSubject.token(id)
    return NATSConfiguration(
      servers: fleet.servers, name: (["reachd-fleet", role, id] + [purpose].compactMap(\.self)).joined(separator: " "),
      inboxPrefix: "_INBOX.\(role).\(token)", deliveryPrefix: "_DELIVER.\(role).\(token)", hasThreads: purpose != nil,
      credentials: (try? credentials(fleet).get()) ?? nil, authorityFile: fleet.authorityFile)
  }

  /// A URL without user and password, for messages.
  static func withoutUser(_ url: String) -> String {
    guard let at = url.lastIndex(of: "@"), let slashes = url.firstRange(of: "://") else { return url }
    return String(url[..<slashes.upperBound] + url[url.index(after: at)...])
  }

  private static func credentials(_ fleet: FleetConfiguration) -> Result<NATSCredentials?, ConfigurationError> {
    guard let file = fleet.credentialsFile else { return .success(nil) }
    func error(_ problem: String, _ hint: String = "") -> ConfigurationError {
      ConfigurationError(
        location: "configuration", path: "fleet.credentialsFile", problem: "\(file): \(problem)", hint: hint)
    }
    do throws(FileReadError) {
      let bytes = try FileReader.bytes(of: file, limit: credentialBytes, blocking: true)
      guard let found = NATSCredentials(content: String(decoding: bytes, as: UTF8.self), path: file) else {
        return .failure(
          error("neither a JWT with a seed nor a key", "expected a .creds file, or a seed SU… and a public key U…"))
      }
      return .success(found)
    } catch {
      return .failure(
        ConfigurationError(
          location: "configuration", path: "fleet.credentialsFile", problem: "\(file): \(error.reason)"))
    }
  }

  private static func unreadable(_ file: String) -> String? {
    do throws(FileReadError) {
      _ = try FileReader.bytes(of: file, limit: 1 << 22, blocking: true)
      return nil
    } catch {
      return error.reason
    }
  }
}
