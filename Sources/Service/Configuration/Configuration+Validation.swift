internal import HTTPRouting
internal import HostProcess
internal import Probers
internal import ReachabilityChecks
internal import StatusAPI
internal import Webhooks

extension Configuration {
  /// The time for the completion of requests after ``drainDelay``, unless half of ``grace`` is shorter.
  private static let completionTime = Duration.seconds(1)

  /// How long new connections are accepted after SIGTERM.
  var limitedDrainDelay: Duration { min(drainDelay, grace - min(Self.completionTime, grace / 2)) }

  /// The settings that are valid but may be mistakes.
  package func warnings(_ environment: [String: String]) -> [String] {
    var warnings = expiredCertificateWarnings
    if limitedDrainDelay < drainDelay {
      let times = [drainDelay, limitedDrainDelay, grace].map(DurationFormat.shortest)
      warnings.append(
        "drainDelay is \(times[0]) and is reduced to \(times[1]), so that requests are completed within the grace of "
          + times[2])
    }
    let readers = tokens.filter { !$0.scopes.isDisjoint(with: [.read, .admin]) }
    if requiresTokens, !readers.isEmpty, readers.allSatisfy({ $0.expires.map { $0 <= .now } ?? false }) {
      warnings.append("no client can read: every token with the scope read has expired")
    }
    warnings += modules.filter { $0.access == .any }.map { module in
      "modules.\(module.name).hosts is any: clients can send the content of this module to every host"
    }
    warnings += webhooks.filter { $0.url.scheme == .http }.map { "the webhook \($0.id) sends events in plain text" }
    return warnings + fileModeWarnings + UnknownVariables.warnings(environment)
  }

  /// The secret files that other users of the machine can read or write, and the other files that they can write.
  ///
  /// The group is left out: an administrator gives a file to the group of the service.
  private var fileModeWarnings: [String] {
    let secrets = secretFiles
    let files = [source?.path, tokensFile] + listeners.compactMap { tlsFiles(of: $0)?.certificate }
    let others = Set(files.compactMap(\.self)).subtracting(secrets).sorted()
    return secrets.compactMap { Self.warning($0, FileAccess.ofOthers($0)) }
      + others.compactMap { Self.warning($0, FileAccess.ofOthers($0).intersection(.write)) }
  }

  private static func warning(_ path: String, _ access: FileAccess) -> String? {
    switch access {
    case []: nil
    case .read: "every user of this machine can read \(path): chmod o-r"
    case .write: "every user of this machine can write \(path): chmod o-w"
    default: "every user of this machine can read and write \(path): chmod o-rw"
    }
  }

  /// The problems of the CA files that modules name.
  var authorityErrors: [ConfigurationError] {
    modules.compactMap { module in
      guard let file = module.options.value.handshake?.authorityFile, let diagnostic = TLSAuthorityFile.diagnostic(file)
      else { return nil }
      return ConfigurationError(
        location: file, path: "modules.\(module.name).authorityFile", problem: diagnostic,
        hint: "expected certificates of authorities, PEM")
    }
  }

  /// The rules of the file that would have no effect, although the operator relies on them.
  var unusedRuleErrors: [ConfigurationError] {
    unusedRules.map { address in
      ConfigurationError(
        location: "configuration", path: "listen",
        problem: "a variable or a flag omits \(address), for which the file has rules",
        hint: "give that address too, or none")
    }
  }

  var expiredCertificateWarnings: [String] {
    let now = Timestamp.now.microseconds / 1_000_000
    return identities.filter { $0.value.expires <= now }.map { files, identity in
      let end = Timestamp(microseconds: identity.expires * 1_000_000)
      return "the certificate \(files.certificate ?? "") ended at \(end)"
    }.sorted()
  }

  private var requiresTokens: Bool { access.reads == .token || listeners.contains { $0.reads == .token } }

  /// Whether two tokens are an old token and its replacement.
  static let tokensPerIDLimit = 2

  /// Finds wildcard addresses together with another address of the same port, which the kernel does not bind twice.
  private var overlaps: [(wildcard: ListenAddress, other: ListenAddress, families: String)] {
    let addresses = listen.filter { $0.path == nil && $0.port != 0 }
    return addresses.flatMap { wildcard in
      addresses.compactMap { other in
        let isIPv6 = other.host.contains(":")
        guard wildcard.port == other.port, wildcard.host != other.host else { return nil }
        switch wildcard.host {
        case "::": return (wildcard, other, isIPv6 ? "every IPv6 address" : "IPv4, too")
        case "0.0.0.0" where !isIPv6: return (wildcard, other, "every IPv4 address")
        default: return nil
        }
      }
    }
  }

  /// The conflicts between settings that are valid separately.
  var conflicts: [ConfigurationError] {
    var errors: [ConfigurationError] = []
    func addError(_ path: String, _ problem: String, _ hint: String) {
      errors.append(ConfigurationError(location: "configuration", path: path, problem: problem, hint: hint))
    }
    for (id, tokens) in Dictionary(grouping: tokens, by: \.id) where tokens.count > Self.tokensPerIDLimit {
      addError(
        "tokens", "the id \(id) is listed \(tokens.count) times",
        "an old and a new token may share one id, \(Self.tokensPerIDLimit) at the most")
    }
    for (id, limits) in accountLimits where limits.count > 1 {
      addError(
        "tokens", "the tokens of the id \(id) have different limits", "tokens of one id share them; write the same")
    }
    if targets.count > scheduleLimits.targets {
      addError(
        "targets", "there are \(targets.count) targets, and limits.targets is \(scheduleLimits.targets)",
        "raise limits.targets to \(targets.count) at least")
    }
    if requiresTokens, !tokens.contains(where: { !$0.scopes.isDisjoint(with: [.read, .admin]) }) {
      addError(
        "access.reads", "no client could read: no token has the scope read",
        "make one by `reachd token create --scope read`")
    }
    for (address, listeners) in Dictionary(grouping: listeners, by: \.address.description) {
      // Port 0 is a different free port for each address.
      guard listeners.count > 1, listeners[0].address.path != nil || listeners[0].address.port != 0 else { continue }
      addError("listen", "\(address) is listed \(listeners.count) times", "leave all but one out")
    }
    for (wildcard, other, families) in overlaps {
      addError("listen", "\(wildcard) is for \(families)", "leave \(other) out")
    }
    for listener in listeners {
      let isUnix = listener.address.path != nil
      if isUnix, listener.tls.isPresent {
        addError("listen", "\(listener.address) does not support TLS", "leave certificate and key out")
      }
      if !isUnix, listener.mode != nil {
        addError("listen", "\(listener.address) has no file", "mode is for unix:/path")
      }
      if isUnix, listener.isFreebind {
        addError("listen", "\(listener.address) is a path", "freebind is for addresses")
      }
      if listener.isTLSDisabled, listener.tls.isPresent {
        addError("listen", "\(listener.address) has tls: off and a certificate", "leave one of them out")
      }
    }
    return errors
  }
}
