internal import HostProcess
package import EmbeddedHTTPServer
internal import HTTPRouting
internal import StatusAPI

/// One address to listen on, with its own rules.
package struct ListenerConfiguration: Sendable, Equatable {
  package var address: ListenAddress
  /// The access rule for reads at this address; nil for the general rule.
  var reads: AccessPolicy.Rule?
  /// The access rule for all other requests at this address; nil for the general rule.
  var checks: AccessPolicy.Rule?
  /// The mode of a Unix-domain socket's file; nil for the server's default.
  var mode: UInt32?
  /// Listens although no interface has the address yet.
  var isFreebind = false
  /// The certificate and key of this address; nil for the general ones.
  var tls = TLSFiles()
  /// Disables TLS at this address, also when other addresses use it.
  var isTLSDisabled = false

  /// Whether the address has rules of its own.
  var hasRules: Bool { self != ListenerConfiguration(address) }

  init(_ address: ListenAddress) { self.address = address }
}

package struct TLSFiles: Sendable, Hashable {
  /// The PEM file of the certificate and its chain.
  var certificate: String?
  /// The PEM file of the key.
  var key: String?

  /// The largest file to read, in bytes; a certificate with its chain and a key have some kilobytes.
  private static let fileByteLimit = 1 << 20

  var isPresent: Bool { certificate != nil || key != nil }

  /// Reads both files.
  ///
  /// - Parameter blocking: whether to read pipes also, which block until a writer has opened them.
  /// - Returns: the identity.
  /// - Throws: the problem, with the file.
  func identity(blocking: Bool) throws(ConfigurationError) -> ServerTLSIdentity {
    guard let certificate, let key else {
      throw ConfigurationError(
        location: "configuration", path: "tls", problem: "\(key == nil ? "the key" : "the certificate") is missing",
        hint: "TLS needs both files, certificate and key")
    }
    let texts = (
      certificate: try Self.bytes(of: certificate, "tls.certificate", blocking: blocking),
      key: try Self.bytes(of: key, "tls.key", blocking: blocking)
    )
    do throws(ServerTLSIdentityError) {
      return try ServerTLSIdentity(certificate: texts.certificate, privateKey: texts.key)
    } catch {
      throw ConfigurationError(
        location: error.part == .certificate ? certificate : key, path: "tls.\(error.part.rawValue)",
        problem: error.reason, hint: "expected PEM, and the key of the first certificate")
    }
  }

  private static func bytes(
    of file: String, _ setting: String, blocking: Bool
  ) throws(ConfigurationError) -> [UInt8] {
    do throws(FileReadError) {
      return try FileReader.bytes(of: file, limit: fileByteLimit, blocking: blocking)
    } catch {
      throw ConfigurationError(location: error.path, path: setting, problem: error.reason)
    }
  }
}

extension Configuration {
  /// Returns the listener of an address, by its index if the address is the one listed there.
  ///
  /// An address that is not listed, such as one from a service manager, gets a listener without rules.
  func listener(_ number: Int, at address: ListenAddress) -> ListenerConfiguration {
    if listeners.indices.contains(number), listeners[number].address == address { return listeners[number] }
    return listeners.first { $0.address == address } ?? ListenerConfiguration(address)
  }

  /// Returns an address whose rules would have no effect, because it is not among a service manager's sockets.
  package func listenerWithoutSocket(by inherited: [ListenAddress]) -> ListenAddress? {
    guard !inherited.isEmpty else { return nil }
    return listeners.first { $0.hasRules && !inherited.contains($0.address) }?.address
  }

  /// Returns the files of a listener's certificate and key; nil for plain HTTP.
  package func tlsFiles(of listener: ListenerConfiguration) -> TLSFiles? {
    guard !listener.isTLSDisabled, listener.address.path == nil else { return nil }
    let files = listener.tls.isPresent ? listener.tls : tls
    return files.isPresent ? files : nil
  }

  /// Returns a listener's TLS identity, which ``loadIdentities()`` has read; nil for plain HTTP.
  func identity(of listener: ListenerConfiguration) -> ServerTLSIdentity? {
    tlsFiles(of: listener).flatMap { identities[$0] }
  }

  /// Reads the certificates and keys of all listeners.
  mutating func loadIdentities(blocking: Bool = true) -> [ConfigurationError] {
    var errors: [ConfigurationError] = []
    // The general ones even if no listener uses them, because a service manager's socket may.
    for files in Set(listeners.compactMap { tlsFiles(of: $0) } + (tls.isPresent ? [tls] : [])) {
      for path in [files.certificate, files.key] { willRead(path) }
      do throws(ConfigurationError) {
        identities[files] = try files.identity(blocking: blocking)
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  /// Returns the access rules of these addresses, in order.
  func accessPolicy(at addresses: [ListenAddress]) -> AccessPolicy {
    let rules = addresses.enumerated().map { number, address in
      let listener = listener(number, at: address)
      return AccessPolicy.Rules(reads: listener.reads ?? access.reads, checks: listener.checks ?? access.checks)
    }
    return AccessPolicy(
      listeners: rules, tokens: tokens, badgesAreOpen: badges == .open, gatesAreOpen: gateStates == .open)
  }
}
