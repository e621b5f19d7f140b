internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// What a TLS session and its certificate come to: for `tls` targets, and for `https` before the request is sent.
///
/// Way, dates and name are judged apart, and all that is wrong is told; the reason is that of the first, in this order.
struct SessionVerdict {
  /// What the session tells, of a certificate that is refused, too.
  private(set) var evidence: ProbeResult.TLS
  /// What is wrong with the certificate; nil for nothing, and where nothing is asked of it.
  private(set) var fault: Finding?

  init(_ session: gnutls_session_t, _ recipe: TLSRecipe, name: String, _ stores: TrustStores) {
    let chain = unsafe CertificateChain(of: session)
    evidence = unsafe Self.evidence(session, chain)
    guard recipe.verify else { return }
    guard let chain else {
      fault = Finding(.down, .certificateUntrusted, detail: "the peer has shown no certificate that can be read")
      return
    }
    do throws(TrustStore.Failure) {
      judge(chain, try stores.store(recipe.authorityFile), recipe, name)
    } catch {
      fault = Finding(.unknown, .certificateUntrusted, detail: error.words)
    }
  }

  /// What a session tells whose handshake came to nothing.
  static func evidence(_ session: gnutls_session_t) -> ProbeResult.TLS {
    unsafe evidence(session, CertificateChain(of: session))
  }

  private static func evidence(_ session: gnutls_session_t, _ chain: CertificateChain?) -> ProbeResult.TLS {
    var evidence = ProbeResult.TLS()
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

  private mutating func judge(_ chain: CertificateChain, _ store: TrustStore, _ recipe: TLSRecipe, _ name: String) {
    let way = WayVerdict.best(of: chain, store, recipe)
    evidence.wayExpiry = way?.expiry
    var faults: [(Reason, String)] = []
    if let words = way?.distrust { faults.append((.certificateUntrusted, words)) }
    if let words = way?.dates { faults.append((.certificateExpired, words)) }
    if !chain.isFor(name) {
      let names = chain.names.prefix(Limits.namesTold).joined(separator: ", ")
      faults.append((.certificateNameMismatch, "it is not for \(name), but for: \(names.isEmpty ? "nobody" : names)"))
    }
    fault = faults.first.map { first in
      Finding(.down, first.0, detail: "the certificate: " + faults.map(\.1).joined(separator: "; "))
    }
  }
}

/// What one of the ways from a certificate to an authority is worth.
private struct WayVerdict {
  /// Why nobody who is trusted stands at its end; nil if somebody does.
  let distrust: String?
  /// What is wrong with its dates; nil for nothing.
  let dates: String?
  /// When it ends; nil if it is no good now.
  let expiry: Timestamp?

  /// The first of a chain's ways that is in order; if there is none, the first of those that are trusted, or of all.
  static func best(of chain: CertificateChain, _ store: TrustStore, _ recipe: TLSRecipe) -> WayVerdict? {
    var best: WayVerdict?
    for way in chain.ways() {
      let verdict = WayVerdict(way, store, recipe)
      if verdict.distrust == nil, verdict.dates == nil { return verdict }
      if best == nil || (best?.distrust != nil && verdict.distrust == nil) { best = verdict }
    }
    return best
  }

  private init(_ way: CertificateWay, _ store: TrustStore, _ recipe: TLSRecipe) {
    distrust = way.distrust(by: store)
    let now = Timestamp.now
    let all = way.validities(upTo: store)
    // An authority may be there twice: what has expired is no matter if GnuTLS finds the other.
    let isOver = all.contains { $0.end <= now || $0.begin > now } && (distrust != nil || !way.isGoodNow(by: store))
    let end = all.map(\.end).filter { $0 > now }.min()
    expiry = isOver || distrust != nil ? nil : end
    dates = isOver ? Self.words(all, now) : Self.words(end, now, recipe)
  }

  private static func words(_ all: [CertificateWay.Validity], _ now: Timestamp) -> String? {
    for (place, validity) in all.enumerated() {
      let whose = place == 0 ? "it" : "the certificate above it"
      if validity.begin > now { return "\(whose) is not valid before \(validity.begin)" }
      if validity.end <= now { return "\(whose) expired at \(validity.end)" }
    }
    return nil
  }

  private static func words(_ end: Timestamp?, _ now: Timestamp, _ recipe: TLSRecipe) -> String? {
    guard let end else { return nil }
    let left = Duration.microseconds(end.microseconds - now.microseconds)
    return left < recipe.minimumValidity ? "it expires at \(end), sooner than it may" : nil
  }
}
