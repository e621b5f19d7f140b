internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// What a TLS session and its certificate come to: for `tls` targets, and for `https` before the request is sent.
///
/// Way, dates and name are judged apart, and all that is wrong is told; the reason is that of the first, in this order.
struct TLSVerification {
  /// What the session tells, of a certificate that is refused, too.
  private(set) var evidence: CheckResult.TLS
  /// What is wrong with the certificate; nil for nothing, and where nothing is asked of it.
  private(set) var fault: Finding?

  init(_ session: gnutls_session_t, _ options: TLSOptions, name: String, _ stores: TrustStores) {
    let chain = unsafe CertificateChain(of: session)
    evidence = unsafe Self.evidence(session, chain)
    guard options.verify else { return }
    guard let chain else {
      fault = Finding(.down, .certificateUntrusted, detail: "the peer has shown no certificate that can be read")
      return
    }
    do throws(TrustStore.Failure) {
      judge(chain, try stores.store(options.authorityFile), options, name)
    } catch {
      fault = Finding(.unknown, .certificateUntrusted, detail: error.message)
    }
  }

  /// What a session tells whose handshake came to nothing.
  static func evidence(_ session: gnutls_session_t) -> CheckResult.TLS {
    unsafe evidence(session, CertificateChain(of: session))
  }

  private static func evidence(_ session: gnutls_session_t, _ chain: CertificateChain?) -> CheckResult.TLS {
    var evidence = CheckResult.TLS()
    // Before the handshake there is a version all the same: the one that was offered.
    if let cipher = unsafe gnutls_ciphersuite_get(session) {
      evidence.cipher = unsafe String(cString: cipher)
      if let name = unsafe gnutls_protocol_get_name(gnutls_protocol_get_version(session)) {
        let text = unsafe String(cString: name)
        evidence.version = text.hasPrefix("TLS") ? "TLSv" + text.dropFirst(3) : text
      }
    }
    guard let chain else { return evidence }
    evidence.earliestExpiry = chain.earliestExpiry
    evidence.subject = chain.subject
    evidence.issuer = chain.issuer
    evidence.names = chain.names
    evidence.fingerprint = chain.fingerprint
    return evidence
  }

  private mutating func judge(_ chain: CertificateChain, _ store: TrustStore, _ options: TLSOptions, _ name: String) {
    let path = PathVerification.best(of: chain, store, options)
    evidence.pathExpiry = path?.expiry
    var faults: [(Reason, String)] = []
    if let message = path?.untrustedReason { faults.append((.certificateUntrusted, message)) }
    if let message = path?.dates { faults.append((.certificateExpired, message)) }
    if !chain.isFor(name) {
      let names = chain.names.prefix(Limits.namesReported).joined(separator: ", ")
      faults.append((.certificateNameMismatch, "it is not for \(name), but for: \(names.isEmpty ? "nobody" : names)"))
    }
    fault = faults.first.map { first in
      Finding(.down, first.0, detail: "the certificate: " + faults.map(\.1).joined(separator: "; "))
    }
  }
}

/// What one of the ways from a certificate to an authority is worth.
private struct PathVerification {
  /// Why nobody who is trusted stands at its end; nil if somebody does.
  let untrustedReason: String?
  /// What is wrong with its dates; nil for nothing.
  let dates: String?
  /// When it ends; nil if it is no good now.
  let expiry: Timestamp?

  /// The first of a chain's ways that is in order; if there is none, the first of those that are trusted, or of all.
  static func best(of chain: CertificateChain, _ store: TrustStore, _ options: TLSOptions) -> PathVerification? {
    var best: PathVerification?
    for path in chain.certificationPaths() {
      let verdict = PathVerification(path, store, options)
      if verdict.untrustedReason == nil, verdict.dates == nil { return verdict }
      if best == nil || (best?.untrustedReason != nil && verdict.untrustedReason == nil) { best = verdict }
    }
    return best
  }

  private init(_ path: CertificationPath, _ store: TrustStore, _ options: TLSOptions) {
    untrustedReason = path.untrustedReason(by: store)
    let now = Timestamp.now
    let all = path.validities(upTo: store)
    // An authority may be there twice: what has expired is no matter if GnuTLS finds the other.
    let isOver =
      all.contains { $0.end <= now || $0.begin > now } && (untrustedReason != nil || !path.isValidNow(by: store))
    let end = all.map(\.end).filter { $0 > now }.min()
    expiry = isOver || untrustedReason != nil ? nil : end
    dates = isOver ? Self.message(all, now) : Self.message(end, now, options)
  }

  private static func message(_ all: [CertificationPath.Validity], _ now: Timestamp) -> String? {
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
    return left < options.minimumValidity ? "it expires at \(end), sooner than it may" : nil
  }
}
