internal import HostProcess
package import EmbeddedHTTPServer
internal import StatusAPI

/// One address to listen on, and what is special there.
package struct ListenerConfiguration: Sendable, Equatable {
  package var address: ListenAddress
  /// Who may read here; nil for what holds everywhere.
  var reads: AccessPolicy.Rule?
  /// Who may do more than read here; nil for what holds everywhere.
  var checks: AccessPolicy.Rule?
  /// The mode of a Unix-domain socket's file; nil for the server's default.
  var mode: UInt32?
  /// Certificate and key of this address; nil for those of all.
  var tls = TLSFiles()
  /// No TLS here, whatever holds elsewhere.
  var isTLSDisabled = false

  /// Something is special there.
  var hasRules: Bool { self != ListenerConfiguration(address) }

  init(_ address: ListenAddress) { self.address = address }
}

/// Where a certificate and its key are.
package struct TLSFiles: Sendable, Hashable {
  /// The certificate's file, with those of its authorities; PEM.
  var certificate: String?
  /// The key's file; PEM.
  var key: String?

  /// A certificate with its chain and a key are some kilobytes.
  private static let fileByteLimit = 1 << 20

  var isPresent: Bool { certificate != nil || key != nil }

  /// Reads both.
  ///
  /// - Parameter blocking: whether pipes are read, too, for whose writers somebody must wait.
  /// - Returns: the identity.
  /// - Throws: what is wrong, with the file to blame.
  func identity(blocking: Bool) throws(ConfigurationError) -> TLSIdentity {
    guard let certificate, let key else {
      throw ConfigurationError(
        location: "configuration", path: "tls", problem: "\(key == nil ? "the key" : "the certificate") is missing",
        hint: "TLS needs both files, certificate and key")
    }
    let texts: (certificate: [UInt8], key: [UInt8])
    do throws(FileReadError) {
      texts = (
        try FileReader.bytes(of: certificate, limit: Self.fileByteLimit, blocking: blocking),
        try FileReader.bytes(of: key, limit: Self.fileByteLimit, blocking: blocking)
      )
    } catch {
      throw ConfigurationError(location: error.path, path: "tls", problem: error.reason)
    }
    do throws(TLSIdentityError) {
      return try TLSIdentity(certificate: texts.certificate, privateKey: texts.key)
    } catch {
      throw ConfigurationError(
        location: error.part == .certificate ? certificate : key, path: "tls.\(error.part.rawValue)",
        problem: error.reason, hint: "expected PEM, and the key of the first certificate")
    }
  }
}

extension Configuration {
  /// The listener of an address, by its number where that is its place; one without rules for an address that is not
  /// listed, such as a service manager's.
  func listener(_ number: Int, at address: ListenAddress) -> ListenerConfiguration {
    if listeners.indices.contains(number), listeners[number].address == address { return listeners[number] }
    return listeners.first { $0.address == address } ?? ListenerConfiguration(address)
  }

  /// An address with rules that is not among a service manager's sockets: they would hold nowhere; nil when there is none.
  package func listenerWithoutSocket(by inherited: [ListenAddress]) -> ListenAddress? {
    guard !inherited.isEmpty else { return nil }
    return listeners.first { $0.hasRules && !inherited.contains($0.address) }?.address
  }

  /// The files of a listener's certificate and key; nil for plain HTTP.
  package func tlsFiles(of listener: ListenerConfiguration) -> TLSFiles? {
    guard !listener.isTLSDisabled, listener.address.path == nil else { return nil }
    let files = listener.tls.isPresent ? listener.tls : tls
    return files.isPresent ? files : nil
  }

  /// Who a listener is under TLS, once ``loadIdentities()`` has read it; nil for plain HTTP.
  func identity(of listener: ListenerConfiguration) -> TLSIdentity? {
    tlsFiles(of: listener).flatMap { identities[$0] }
  }

  /// Reads the certificates and keys of all listeners.
  mutating func loadIdentities(blocking: Bool = true) -> [ConfigurationError] {
    var errors: [ConfigurationError] = []
    // Those of all, even if no listener uses them: a service manager's socket may.
    for files in Set(listeners.compactMap { tlsFiles(of: $0) } + (tls.isPresent ? [tls] : [])) {
      do throws(ConfigurationError) {
        identities[files] = try files.identity(blocking: blocking)
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  /// Who may ask what at these addresses, in their order.
  func accessPolicy(at addresses: [ListenAddress]) -> AccessPolicy {
    let rules = addresses.enumerated().map { number, address in
      let listener = listener(number, at: address)
      return AccessPolicy.Rules(reads: listener.reads ?? access.reads, checks: listener.checks ?? access.checks)
    }
    return AccessPolicy(listeners: rules, tokens: tokens)
  }
}
