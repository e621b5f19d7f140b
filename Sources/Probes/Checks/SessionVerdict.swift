internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// What a TLS session and its certificate come to: for `tls` targets, and for `https` before the request is sent.
///
/// Chain, dates and name are judged apart, and all that is wrong is told; the reason is that of the first, in this order.
enum SessionVerdict {
  /// What the session tells, of a certificate that is refused, too.
  static func evidence(_ session: gnutls_session_t) -> ProbeResult.TLS {
    var evidence = ProbeResult.TLS()
    // Before the handshake there is a version all the same: the one that was offered.
    if let cipher = unsafe gnutls_ciphersuite_get(session) {
      evidence.cipher = unsafe String(cString: cipher)
      if let name = unsafe gnutls_protocol_get_name(gnutls_protocol_get_version(session)) {
        let text = unsafe String(cString: name)
        evidence.version = text.hasPrefix("TLS") ? "TLSv" + text.dropFirst(3) : text
      }
    }
    guard let chain = unsafe CertificateChain(of: session) else { return evidence }
    evidence.earliestExpiry = chain.earliestExpiry
    evidence.subject = chain.subject
    evidence.issuer = chain.issuer
    evidence.names = chain.names
    return evidence
  }

  /// What is wrong with the certificate; nil for nothing, and where nothing is asked of it.
  static func fault(
    _ session: gnutls_session_t, _ recipe: TLSRecipe, name: String, _ stores: TrustStores
  ) -> Finding? {
    guard recipe.verify else { return nil }
    guard let chain = unsafe CertificateChain(of: session) else {
      return Finding(.down, .certificateUntrusted, detail: "the peer has shown no certificate that can be read")
    }
    let store: TrustStore
    do throws(TrustStore.Failure) {
      store = try stores.store(recipe.authorityFile)
    } catch {
      return Finding(.unknown, .certificateUntrusted, detail: error.words)
    }
    var faults: [(Reason, String)] = []
    if let words = chain.distrust(by: store) { faults.append((.certificateUntrusted, words)) }
    if let words = dates(chain, store, recipe) { faults.append((.certificateExpired, words)) }
    if !chain.isFor(name) {
      let names = chain.names.prefix(Limits.namesTold).joined(separator: ", ")
      faults.append((.certificateNameMismatch, "it is not for \(name), but for: \(names.isEmpty ? "nobody" : names)"))
    }
    guard let first = faults.first else { return nil }
    return Finding(.down, first.0, detail: "the certificate: " + faults.map(\.1).joined(separator: "; "))
  }

  private static func dates(_ chain: CertificateChain, _ store: TrustStore, _ recipe: TLSRecipe) -> String? {
    let now = Timestamp.now
    let all = chain.validities(upTo: store)
    // There may be several ways to an authority: what has expired on this one is no matter if GnuTLS finds another.
    let isGood = all.contains { $0.end <= now || $0.begin > now } && chain.isGoodNow(by: store)
    for (place, validity) in all.enumerated() where !isGood {
      let whose = place == 0 ? "it" : "the certificate above it"
      if validity.begin > now { return "\(whose) is not valid before \(validity.begin)" }
      if validity.end <= now { return "\(whose) expired at \(validity.end)" }
    }
    guard let end = all.map(\.end).filter({ $0 > now }).min() else { return nil }
    let left = Duration.microseconds(end.microseconds - now.microseconds)
    return left < recipe.minimumValidity ? "it expires at \(end), sooner than it may" : nil
  }
}
