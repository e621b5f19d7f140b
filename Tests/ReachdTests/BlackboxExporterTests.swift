import Foundation
import Probers
import StatusClient
import TestSupport
import Testing

/// `/probe` beside the real blackbox_exporter: a Prometheus must find the same series behind either.
@Suite struct BlackboxExporterTests {
  private static let exporter = Program.environmentVariable("BLACKBOX_EXPORTER")

  /// One response of `/probe`: the type of each family, the labels of its series, the values.
  private struct Page {
    var types: [String: String] = [:]
    var series: Set<String> = []
    var values: [String: Double] = [:]

    init(_ text: String) throws {
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if line.hasPrefix("# TYPE "), words.count == 4 { types[String(words[2])] = String(words[3]) }
        // Labels may have spaces in them.
        guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { continue }
        let name = String(line[..<space])
        series.insert(name)
        let value: Double = try #require(Double(line[line.index(after: space)...]), "\(line)")
        values[name] = value
      }
    }

    /// The page without a family that only reachd has.
    func without(_ family: String) -> Page {
      var page = self
      page.types[family] = nil
      page.series = series.filter { !$0.hasPrefix(family) }
      return page
    }
  }

  /// Removes what only versions after that of Debian 12 have: a label and a family.
  private static func withoutAdditions(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.contains("probe_tls_cipher_info") }
      .map { $0.replacing(/serialnumber="[0-9a-f]*",/, with: "") }.joined(separator: "\n")
  }

  /// The parts that depend neither on the time nor on the cause of a failure.
  private static let steady = [
    "probe_success", "probe_ip_protocol", "probe_ip_addr_hash", "probe_http_status_code", "probe_http_redirects",
    "probe_http_ssl", "probe_icmp_reply_hop_limit", "probe_dns_answer_rrs", "probe_dns_authority_rrs",
    "probe_dns_query_succeeded", "probe_failed_due_to_regex", "probe_http_content_length",
    "probe_ssl_earliest_cert_expiry", "probe_ssl_last_chain_expiry_timestamp_seconds",
  ]

  private func probe(_ base: String, _ query: String) throws -> Page {
    let answer = try HTTPClient.get(
      url: "\(base)/probe?\(query)", headers: ["X-Prometheus-Scrape-Timeout-Seconds": "2.5"], timeout: .seconds(20),
      maximumBody: 1 << 20)
    let text = String(decoding: answer.body, as: UTF8.self)
    guard answer.status == 200 else { throw TestError("\(base) \(query): \(answer.status) \(text)") }
    return try Page(Self.withoutAdditions(text))
  }

  /// Sends both the same requests and compares the responses.
  private func compare(theirs: String, ours: String, _ cases: (_ web: String) -> [(module: String, target: String)])
    throws
  {
    let file = try TemporaryFile("modules:\n" + theirs)
    let port = try Loopback.closedPort()
    let peer = try Child(
      try #require(Self.exporter), ["--config.file=\(file.path)", "--web.listen-address=127.0.0.1:\(port)"])
    defer { peer.kill() }
    let theirs = "http://127.0.0.1:\(port)"
    #expect(eventually { (try? HTTPClient.get(url: theirs, timeout: .seconds(20), maximumBody: 1 << 20)) != nil })
    let own = try TemporaryFile("policy: { allow: [127.0.0.0/8] }\nmodules:\n" + ours)
    let service = try RunningService(["--drain-delay", "0s", "--config", own.path])
    // The service's own port cannot be a target.
    let web = try RunningService(["--drain-delay", "0s"])
    for (module, target) in cases(web.url) {
      let expected = try probe(theirs, "module=\(module)&target=\(target)")
      let answer = try probe(service.url, "module=\(module)&target=\(target)")
      let found = answer.without("probe_failure_info")
      #expect(found.types == expected.types, "\(module) \(target)")
      #expect(found.series == expected.series, "\(module) \(target)")
      for name in Self.steady { #expect(found.values[name] == expected.values[name], "\(module) \(target): \(name)") }
      // Only reachd reports the reason.
      let isUp = answer.values["probe_success"] == 1
      #expect((answer.types["probe_failure_info"] == nil) == isUp, "\(module) \(target)")
    }
  }

  @Test(.enabled(if: exporter != nil, "needs blackbox_exporter: scripts/peers unpacks it"))
  func seriesMatchBlackboxExporter() throws {
    let dns = try DNSServer { name, _ in
      name == "a.example" ? .addresses([[10, 0, 0, 9], [10, 0, 0, 8]]) : .noSuchName
    }
    let theirs = """
        http_2xx: { prober: http, http: { preferred_ip_protocol: ip4 } }
        http_regex: { prober: http, http: { preferred_ip_protocol: ip4, fail_if_body_not_matches_regexp: [nothing] } }
        tcp_connect: { prober: tcp }
        icmp: { prober: icmp, icmp: { preferred_ip_protocol: ip4 } }
        dns_udp: { prober: dns, dns: { query_name: a.example, query_type: A, preferred_ip_protocol: ip4 } }
        dns_none: { prober: dns, dns: { query_name: b.example, query_type: A, preferred_ip_protocol: ip4 } }
      """
    let ours = """
        http_regex: { prober: http, expectBody: nothing }
        dns_udp: { prober: dns, queryName: a.example, queryType: A, hosts: any }
        dns_none: { prober: dns, queryName: b.example, queryType: A, hosts: any }
      """
    let dead = try Loopback.closedPort()
    try compare(theirs: theirs, ours: ours) { web in
      [
        ("http_2xx", "\(web)/livez"), ("http_2xx", "\(web)/nothing"), ("http_2xx", "http://127.0.0.1:\(dead)/"),
        ("http_regex", "\(web)/livez"), ("tcp_connect", String(web.dropFirst("http://".utf8.count))),
        ("tcp_connect", "127.0.0.1:\(dead)"), ("icmp", "127.0.0.1"), ("dns_udp", dns.address),
        ("dns_udp", "127.0.0.1:\(dead)"), ("dns_none", dns.address),
        // The reserved domain has no names (RFC 6761 §6.4).
        ("dns_udp", "name.invalid:53"), ("tcp_connect", "name.invalid:1"), ("icmp", "name.invalid"),
      ]
    }
  }

  @Test(
    .enabled(if: exporter != nil, "needs blackbox_exporter: scripts/peers unpacks it"),
    arguments: ["tls1_2", "tls1_3"])
  func certificateSeriesMatchBlackboxExporter(version: String) throws {
    let authority = try TestAuthority()
    let files = try authority.issue("server")
    let port = try Loopback.closedPort()
    let peer = try Child(
      "/usr/bin/openssl",
      [
        "s_server", "-accept", "127.0.0.1:\(port)", "-cert", files.certificate, "-key", files.key, "-www",
        "-\(version)",
      ])
    #expect(eventually { peer.output.contains("ACCEPT") })
    let trust = "tls_config: { ca_file: \(authority.certificate) }"
    let any = "tls_config: { insecure_skip_verify: true }"
    let theirs = """
        tls: { prober: tcp, tcp: { tls: true, \(trust) } }
        tls_any: { prober: tcp, tcp: { tls: true, \(any) } }
        https: { prober: http, http: { preferred_ip_protocol: ip4, \(trust) } }
        https_any: { prober: http, http: { preferred_ip_protocol: ip4, \(any) } }
      """
    let ours = """
        tls: { prober: tls, authorityFile: \(authority.certificate) }
        tls_any: { prober: tls, verify: false }
        https: { prober: http, authorityFile: \(authority.certificate) }
        https_any: { prober: http, verify: false }
      """
    try compare(theirs: theirs, ours: ours) { _ in
      [
        ("tls", "127.0.0.1:\(port)"), ("tls_any", "127.0.0.1:\(port)"), ("https", "https://127.0.0.1:\(port)/"),
        ("https_any", "https://127.0.0.1:\(port)/"),
      ]
    }
    peer.kill()
  }

  @Test(.enabled(if: exporter != nil, "needs blackbox_exporter: scripts/peers unpacks it"))
  func tcpDialogueSeriesMatchBlackboxExporter() throws {
    let silent = try Peer { Peer.listenUntilClosed($0) }
    let curt = try Peer { _ in }
    let polite = try Peer { peer in
      Loopback.send(Array("220 at your service\r\n".utf8), to: peer)
      _ = Loopback.receive(1, from: peer)
    }
    let brief = try Peer { Loopback.send(Array("220 at your service\r\n".utf8), to: $0) }
    func theirs(_ text: String) -> String {
      "{ prober: tcp, tcp: { preferred_ip_protocol: ip4, query_response: [ { expect: '\(text)' } ] } }"
    }
    let dead = try Loopback.closedPort()
    try compare(
      theirs: "  smtp: \(theirs("^220"))\n  pop: \(theirs("^.OK"))\n",
      ours: "  smtp: { prober: tcp, expect: '^220' }\n  pop: { prober: tcp, expect: '^.OK' }\n"
    ) { _ in
      [
        ("smtp", "127.0.0.1:\(polite.port)"), ("pop", "127.0.0.1:\(brief.port)"), ("pop", "127.0.0.1:\(curt.port)"),
        ("pop", "127.0.0.1:\(silent.port)"), ("pop", "127.0.0.1:\(dead)"),
      ]
    }
  }

  @Test(.enabled(if: exporter != nil, "needs blackbox_exporter: scripts/peers unpacks it"))
  func redirectAndFailureSeriesMatchBlackboxExporter() throws {
    let dead = try Loopback.closedPort()
    func redirecting(_ head: String) throws -> Peer {
      try Peer { peer in
        _ = Loopback.receive(4_096, from: peer)
        Loopback.send(Array("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n".utf8), to: peer)
      }
    }
    let loop = try redirecting("302 Found\r\nLocation: /again")
    let lost = try redirecting("302 Found\r\nLocation: http://127.0.0.1:\(dead)/")
    let nowhere = try redirecting("301 Moved")
    let curt = try Peer { _ = Loopback.receive(4_096, from: $0) }
    let chunked = try Peer { peer in
      _ = Loopback.receive(4_096, from: peer)
      let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
      Loopback.send(Array(text.utf8), to: peer)
    }
    let theirs = """
        http_2xx: { prober: http, http: { preferred_ip_protocol: ip4 } }
        http_stay: { prober: http, http: { preferred_ip_protocol: ip4, no_follow_redirects: true } }
      """
    try compare(theirs: theirs, ours: "  http_stay: { prober: http }\n") { _ in
      [loop, lost, nowhere, curt, chunked].map { ("http_2xx", "http://127.0.0.1:\($0.port)/") }
        + [loop, nowhere].map { ("http_stay", "http://127.0.0.1:\($0.port)/") }
    }
  }
}

/// A TCP server on 127.0.0.1 that does the same with every connection.
private final class Peer: Sendable {
  let port: UInt16
  private let listener: Int32

  init(_ script: @escaping @Sendable (_ peer: Int32) -> Void) throws {
    (listener, port) = try Loopback.bound(.stream)
    guard listen(listener, 16) == 0 else { throw TestError("listen") }
    Loopback.thread { [listener] in
      defer { close(listener) }
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        Loopback.thread {
          script(peer)
          close(peer)
        }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  static func listenUntilClosed(_ peer: Int32) {
    while !Loopback.receive(4_096, from: peer).isEmpty {}
  }
}
