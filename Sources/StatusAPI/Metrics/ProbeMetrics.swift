internal import ReachabilityChecks

/// The result of a check as the series of blackbox_exporter, with its names, types and units.
enum ProbeMetrics {
  /// Adds all series of a result; those of a failure too, because a series that ends hides the failure.
  ///
  /// - Parameters:
  ///   - result: the result of a check.
  ///   - module: the module of the check, which determines the series.
  ///   - failure: the value of the label `reason` when it is not that of the result.
  ///   - page: receives the series.
  static func write(
    _ result: CheckResult, _ module: CheckModule, failure: String? = nil, to page: inout MetricExposition
  ) {
    func add(_ name: String, _ help: String, _ value: Double) { page.add(name, .gauge, help, [.init(value)]) }
    add("probe_success", "Displays whether or not the probe was a success", result.state == .up ? 1 : 0)
    add("probe_duration_seconds", "Returns how long the probe took to complete in seconds", seconds(result.duration))
    add(
      "probe_dns_lookup_time_seconds", "Returns the time taken for probe dns lookup in seconds",
      seconds(result.duration(of: .resolve) ?? .zero))
    let address = result.address?.unmapped
    add(
      "probe_ip_protocol", "Specifies whether probe ip protocol is IP4 or IP6",
      address.map { $0.family == .ipv4 ? 4 : 6 } ?? 0)
    add(
      "probe_ip_addr_hash", "Specifies the hash of IP address. It's useful to detect if the IP address changes.",
      address.map { Double(hash($0.octets)) } ?? 0)
    if let reason = failure ?? result.reason?.rawValue {
      page.add(
        "probe_failure_info", .gauge, "Always 1; the labels contain why the probe failed.",
        [.init(1, ["reason": reason, "state": result.state.rawValue])])
    }
    switch module.options {
    case .http: writeHTTP(result, module, to: &page)
    case .tcp: add("probe_failed_due_to_regex", regexHelp, isRegexFailure(result, module) ? 1 : 0)
    case .icmp: writeICMP(result, to: &page)
    case .dns: writeDNS(result, to: &page)
    // In blackbox_exporter this is a TCP module with TLS; without a dialogue, no expression can fail.
    case .tls: add("probe_failed_due_to_regex", regexHelp, 0)
    case .route: break
    }
    if let tls = result.evidence.tls { writeTLS(tls, isVerified: module.verifies, to: &page) }
  }

  private static let regexHelp = "Indicates if probe failed due to regex"

  /// Whether a dialogue, a body or a header field did not match the expected expression.
  private static func isRegexFailure(_ result: CheckResult, _ module: CheckModule) -> Bool {
    switch module.options {
    // A processing time exists only if the dialogue completed; after a timeout or a reset there is no response to match.
    case .tcp: result.state == .down && result.duration(of: .processing) != nil
    default: result.reason == .httpBody
    }
  }

  /// Returns the last HTTP response; nil if it redirects to a server that did not respond.
  private static func answer(_ result: CheckResult) -> CheckResult.HTTP? {
    guard let http = result.evidence.http, http.isRedirect else { return result.evidence.http }
    let isJudged = result.state == .up || result.reason == .httpStatus || result.reason == .httpBody
    return isJudged ? http : nil
  }

  private static func writeHTTP(_ result: CheckResult, _ module: CheckModule, to page: inout MetricExposition) {
    func add(_ name: String, _ help: String, _ value: Double) { page.add(name, .gauge, help, [.init(value)]) }
    let http = answer(result)
    let phases: [CheckResult.Phase.Name] = [.resolve, .connect, .tls, .processing, .transfer]
    page.add(
      "probe_http_duration_seconds", .gauge, "Duration of http request by phase, summed over all redirects",
      phases.map { .init(seconds(result.duration(of: $0) ?? .zero), ["phase": $0.rawValue]) })
    add("probe_http_status_code", "Response HTTP status code", Double(http?.status ?? 0))
    add("probe_http_version", "Returns the version of HTTP of the probe response", Double(http?.version ?? "") ?? 0)
    // A redirect that is not followed counts, too.
    let redirects = result.evidence.http.map { $0.redirects + ($0.isRedirect ? 1 : 0) } ?? 0
    add("probe_http_redirects", "The number of redirects", Double(redirects))
    add(
      "probe_http_ssl", "Indicates if SSL was used for the final redirect",
      result.evidence.tls == nil ? 0 : 1)
    let length = http.map { $0.contentLength ?? -1 } ?? 0
    add("probe_http_content_length", "Length of http content response", Double(length))
    add(
      "probe_http_uncompressed_body_length", "Length of uncompressed response body", Double(http?.bodyBytes ?? 0))
    add("probe_failed_due_to_regex", regexHelp, isRegexFailure(result, module) ? 1 : 0)
  }

  private static func writeICMP(_ result: CheckResult, to page: inout MetricExposition) {
    page.add(
      "probe_icmp_duration_seconds", .gauge, "Duration of icmp request by phase",
      [
        .init(seconds(result.duration(of: .resolve) ?? .zero), ["phase": "resolve"]),
        // The socket exists before the first check.
        .init(0, ["phase": "setup"]),
        .init(seconds(result.duration(of: .rtt) ?? .zero), ["phase": "rtt"]),
      ])
    if let hops = result.evidence.icmp?.hopLimit {
      page.add(
        "probe_icmp_reply_hop_limit", .gauge, "Replied packet hop limit (TTL for ipv4)", [.init(Double(hops))])
    }
  }

  private static func writeDNS(_ result: CheckResult, to page: inout MetricExposition) {
    func add(_ name: String, _ help: String, _ value: Double) { page.add(name, .gauge, help, [.init(value)]) }
    let dns = result.evidence.dns
    let counts = dns?.counts ?? []
    func count(_ section: Int) -> Double { counts.indices.contains(section) ? Double(counts[section]) : 0 }
    page.add(
      "probe_dns_duration_seconds", .gauge, "Duration of DNS request by phase",
      [
        .init(seconds(result.duration(of: .resolve) ?? .zero), ["phase": "resolve"]),
        .init(seconds(result.duration(of: .connect) ?? .zero), ["phase": "connect"]),
        .init(seconds(result.duration(of: .processing) ?? .zero), ["phase": "request"]),
      ])
    add("probe_dns_query_succeeded", "Displays whether or not the query was executed successfully", dns == nil ? 0 : 1)
    add("probe_dns_answer_rrs", "Returns number of entries in the answer resource record list", count(0))
    add("probe_dns_authority_rrs", "Returns number of entries in the authority resource record list", count(1))
    add("probe_dns_additional_rrs", "Returns number of entries in the additional resource record list", count(2))
  }

  private static func writeTLS(_ tls: CheckResult.TLS, isVerified: Bool, to page: inout MetricExposition) {
    if let expiry = tls.earliestExpiry {
      page.add(
        "probe_ssl_earliest_cert_expiry", .gauge, "Returns earliest SSL cert expiry in unixtime",
        [.init(second(expiry))])
    }
    if let expiry = tls.pathExpiry.map(second) ?? (isVerified ? nil : noChainExpiry) {
      page.add(
        "probe_ssl_last_chain_expiry_timestamp_seconds", .gauge, "Returns last SSL chain expiry in timestamp",
        [.init(expiry)])
    }
    if !tls.fingerprint.isEmpty {
      let names = tls.names.filter { IPAddress($0) == nil }.joined(separator: ",")
      page.add(
        "probe_ssl_last_chain_info", .gauge, "Contains SSL leaf certificate information",
        [
          .init(
            1,
            [
              "fingerprint_sha256": tls.fingerprint, "issuer": tls.issuer, "subject": tls.subject,
              "subjectalternative": names,
            ])
        ])
    }
    if !tls.version.isEmpty {
      page.add(
        "probe_tls_version_info", .gauge, "Contains the TLS version used",
        [.init(1, ["version": tls.version.replacing("TLSv", with: "TLS ", maxReplacements: 1)])])
    }
  }

  /// The value of blackbox_exporter when it verifies no chain: Go's zero time, in the year 1.
  private static let noChainExpiry = -62_135_596_800.0

  private static func second(_ moment: Timestamp) -> Double { Double(moment.microseconds / 1_000_000) }

  private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

  /// Returns the 32-bit FNV-1a hash of the octets, as blackbox_exporter does.
  private static func hash(_ octets: [UInt8]) -> UInt32 {
    octets.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}

extension CheckModule {
  /// Whether the module verifies certificates.
  fileprivate var verifies: Bool {
    switch options {
    case .http(let options): options.tls.verify
    case .tls(let options): options.verify
    default: false
    }
  }
}
