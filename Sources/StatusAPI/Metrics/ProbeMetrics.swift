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
    let options = module.options.value
    let session = result.evidence.tls.flatMap { options.handshake?.series($0) } ?? []
    for series in options.series(result) + session {
      page.add(series.name, .gauge, series.help, series.samples.map { .init($0.value, $0.labels) })
    }
  }

  private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

  /// Returns the 32-bit FNV-1a hash of the octets, as blackbox_exporter does.
  private static func hash(_ octets: [UInt8]) -> UInt32 {
    octets.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}
