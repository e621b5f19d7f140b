import Foundation
import Probes
import TestSupport
import Testing

/// `/probe` beside the real blackbox_exporter: a Prometheus must find the same series behind either.
@Suite struct ExporterTests {
  private static let exporter = Program.environmentVariable("BLACKBOX_EXPORTER")

  /// One answer of `/probe`: the type of each family, the labels of each of its series, the values.
  private struct Page {
    var types: [String: String] = [:]
    var series: Set<String> = []
    var values: [String: Double] = [:]

    init(_ text: String) throws {
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if line.hasPrefix("# TYPE "), words.count == 4 { types[String(words[2])] = String(words[3]) }
        guard !line.hasPrefix("#"), words.count == 2 else { continue }
        series.insert(String(words[0]))
        let value: Double = try #require(Double(words[1]), "\(line)")
        values[String(words[0])] = value
      }
    }

    /// The page without a family that only we have.
    func without(_ family: String) -> Page {
      var page = self
      page.types[family] = nil
      page.series = series.filter { !$0.hasPrefix(family) }
      return page
    }
  }

  /// What does not depend on the moment, nor on how a failure comes about.
  private static let steady = [
    "probe_success", "probe_ip_protocol", "probe_ip_addr_hash", "probe_http_status_code", "probe_http_redirects",
    "probe_http_ssl", "probe_icmp_reply_hop_limit", "probe_dns_answer_rrs", "probe_dns_authority_rrs",
    "probe_dns_query_succeeded", "probe_failed_due_to_regex",
  ]

  private func probe(_ base: String, _ query: String) throws -> Page {
    let answer = try HTTPClient.get(url: "\(base)/probe?\(query)", timeout: .seconds(20), maximumBody: 1 << 20)
    let text = String(decoding: answer.body, as: UTF8.self)
    guard answer.status == 200 else { throw TestError("\(base) \(query): \(answer.status) \(text)") }
    return try Page(text)
  }

  @Test(.enabled(if: exporter != nil, "needs blackbox_exporter: scripts/peers unpacks it"))
  func theSeriesAreThoseOfTheExporter() throws {
    let dns = try DNSServer { name, _ in
      name == "a.example" ? .addresses([[10, 0, 0, 9], [10, 0, 0, 8]]) : .noSuchName
    }
    let modules = """
      modules:
        http_2xx: { prober: http, http: { preferred_ip_protocol: ip4 } }
        http_regex: { prober: http, http: { preferred_ip_protocol: ip4, fail_if_body_not_matches_regexp: [nothing] } }
        tcp_connect: { prober: tcp }
        icmp: { prober: icmp, icmp: { preferred_ip_protocol: ip4 } }
        dns_udp: { prober: dns, dns: { query_name: a.example, query_type: A, preferred_ip_protocol: ip4 } }
      """
    let file = try TemporaryFile(modules)
    let port = try Loopback.deadPort()
    let peer = try Child(
      try #require(Self.exporter), ["--config.file=\(file.path)", "--web.listen-address=127.0.0.1:\(port)"])
    defer { peer.kill() }
    let theirs = "http://127.0.0.1:\(port)"
    #expect(eventually { (try? HTTPClient.get(url: theirs, timeout: .seconds(20), maximumBody: 1 << 20)) != nil })
    let own = try TemporaryFile(
      """
      policy: { allow: [127.0.0.0/8] }
      modules:
        http_regex: { prober: http, expectBody: nothing }
        dns_udp: { prober: dns, queryName: a.example, queryType: A }
      """)
    let service = try RunningService(["--drain-delay", "0s", "--config", own.path])
    let dead = try Loopback.deadPort()
    let web = service.url
    let cases: [(module: String, target: String)] = [
      ("http_2xx", "\(web)/livez"), ("http_2xx", "\(web)/nothing"), ("http_2xx", "http://127.0.0.1:\(dead)/"),
      ("http_regex", "\(web)/livez"), ("tcp_connect", String(web.dropFirst("http://".utf8.count))),
      ("tcp_connect", "127.0.0.1:\(dead)"), ("icmp", "127.0.0.1"), ("dns_udp", dns.address),
      ("dns_udp", "127.0.0.1:\(dead)"),
    ]
    for (module, target) in cases {
      let expected = try probe(theirs, "module=\(module)&target=\(target)")
      let answer = try probe(service.url, "module=\(module)&target=\(target)")
      let found = answer.without("probe_failure_info")
      #expect(found.types == expected.types, "\(module) \(target)")
      #expect(found.series == expected.series, "\(module) \(target)")
      for name in Self.steady { #expect(found.values[name] == expected.values[name], "\(module) \(target): \(name)") }
      // Only we tell why.
      let isUp = answer.values["probe_success"] == 1
      #expect((answer.types["probe_failure_info"] == nil) == isUp, "\(module) \(target)")
    }
  }
}
