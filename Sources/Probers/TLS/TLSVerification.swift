internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// The result of verifying a TLS session and its certificate: for `tls` targets, and for `https` before the request is
/// sent.
///
/// Path, dates and name are verified separately, and all faults are reported; the reason is that of the first, in this
/// order.
struct TLSVerification {
  /// The data of the session, including those of a refused certificate.
  private(set) var evidence: CheckResult.TLS
  /// The faults of the certificate; nil for none, and if no certificate is required.
  private(set) var fault: ProberResult?

  init(_ session: gnutls_session_t, _ options: TLSOptions, name: String, _ stores: TLSTrustStores) {
    let chain = unsafe TLSCertificateChain(of: session)
    evidence = unsafe Self.evidence(session, chain)
    guard options.verify else { return }
    guard let chain else {
      fault = ProberResult(.down, .certificateUntrusted, detail: "the peer sent no readable certificate")
      return
    }
    do throws(TLSTrustStore.Failure) {
      judge(chain, try stores.store(options.authorityFile), options, name)
    } catch {
      fault = ProberResult(.unknown, .certificateUntrusted, detail: error.message)
    }
  }

  /// The data of a session whose handshake failed.
  static func evidence(_ session: gnutls_session_t) -> CheckResult.TLS {
    unsafe evidence(session, TLSCertificateChain(of: session))
  }

  private static func evidence(_ session: gnutls_session_t, _ chain: TLSCertificateChain?) -> CheckResult.TLS {
    var evidence = CheckResult.TLS()
    // Before the handshake GnuTLS also returns a version: the one that was offered.
    if let cipher = unsafe gnutls_ciphersuite_get(session) {
      evidence.cipher = unsafe String(cString: cipher)
      if let name = unsafe gnutls_protocol_get_name(gnutls_protocol_get_version(session)) {
        let text = unsafe String(cString: name)
        evidence.version = text.hasPrefix("TLS") ? "TLSv" + text.dropFirst(3) : text
      }
    }
    guard let chain else { return evidence }
    evidence.earliestExpiry = chain.earliestExpiry
    evidence.expiry = chain.earliestExpiry
    evidence.subject = chain.subject
    evidence.issuer = chain.issuer
    evidence.names = chain.names
    evidence.fingerprint = chain.fingerprint
    return evidence
  }

  private mutating func judge(
    _ chain: TLSCertificateChain, _ store: TLSTrustStore, _ options: TLSOptions, _ name: String
  ) {
    let path = PathVerification.best(of: chain, store, options)
    evidence.pathExpiry = path?.expiry
    evidence.expiry = path?.end ?? evidence.expiry
    var faults: [(Reason, String)] = []
    if let message = path?.untrustedReason { faults.append((.certificateUntrusted, message)) }
    if let message = path?.dates { faults.append((.certificateExpired, message)) }
    if !chain.isFor(name) {
      let names = chain.names.prefix(Limits.namesReported).joined(separator: ", ")
      faults.append(
        (.certificateNameMismatch, "it is not valid for \(name), only for: \(names.isEmpty ? "no name" : names)"))
    }
    fault = faults.first.map { first in
      ProberResult(.down, first.0, detail: "the certificate: " + faults.map(\.1).joined(separator: "; "))
    }
  }
}

/// The verification of one path from a certificate to an authority.
private struct PathVerification {
  /// Why the path does not end at a trusted authority; nil if it does.
  let untrustedReason: String?
  /// The faults of its dates; nil for none.
  let dates: String?
  /// When it expires; nil if it is not valid now.
  let expiry: Timestamp?
  /// The earliest end of a validity period that decides, also of a path that is not valid.
  let end: Timestamp?

  /// The first valid path of a chain; without one, the first trusted path, or else the first path.
  static func best(of chain: TLSCertificateChain, _ store: TLSTrustStore, _ options: TLSOptions) -> PathVerification? {
    var best: PathVerification?
    for path in chain.certificationPaths() {
      let verdict = PathVerification(path, store, options)
      if verdict.untrustedReason == nil, verdict.dates == nil { return verdict }
      if best == nil || (best?.untrustedReason != nil && verdict.untrustedReason == nil) { best = verdict }
    }
    return best
  }

  private init(_ path: TLSCertificationPath, _ store: TLSTrustStore, _ options: TLSOptions) {
    untrustedReason = path.untrustedReason(by: store)
    let now = Timestamp.now
    let all = path.validities(upTo: store)
    // The chain may contain an authority twice: an expired one is irrelevant if GnuTLS finds the other.
    let isOver =
      all.contains { $0.end <= now || $0.begin > now } && (untrustedReason != nil || !path.isValidNow(by: store))
    let next = all.map(\.end).filter { $0 > now }.min()
    end = isOver ? all.map(\.end).min() : next
    expiry = isOver || untrustedReason != nil ? nil : next
    dates = isOver ? Self.message(all, now) : Self.message(next, now, options)
  }

  private static func message(_ all: [TLSCertificationPath.Validity], _ now: Timestamp) -> String? {
    for (place, validity) in all.enumerated() {
      let whose = place == 0 ? "it" : "the certificate above it"
      if validity.begin > now { return "\(whose) is not valid before \(validity.begin)" }
      if validity.end <= now { return "\(whose) expired at \(validity.end)" }
    }
    return nil
  }

  private static func message(_ end: Timestamp?, _ now: Timestamp, _ options: TLSOptions) -> String? {
    guard let end else { return nil }
    let left = Duration.microseconds(end.microseconds - now.microseconds)
    return left < options.minimumValidity ? "it expires at \(end), earlier than the minimum validity allows" : nil
  }
}
