import Probers
import StatusClient
import TestSupport
import Testing

/// `/metrics` of the running service, by Prometheus' own checker.
@Suite struct ProcessMetricsTests {
  private static let promtool = Program.environmentVariable("PROMTOOL")

  private func scrape(_ service: RunningService) throws -> String {
    let answer = try HTTPClient.get(url: service.url + "/metrics", timeout: .seconds(20), maximumBody: 1 << 22)
    #expect(answer.status == 200)
    return String(decoding: answer.body, as: UTF8.self)
  }

  private func value(_ series: String, in page: String) -> Double? {
    page.split(separator: "\n").first { $0.hasPrefix(series + " ") }.flatMap {
      Double($0.dropFirst(series.utf8.count + 1))
    }
  }

  @Test(.enabled(if: promtool != nil, "needs promtool: scripts/peers unpacks it"))
  func promtoolAcceptsTheMetrics() throws {
    let service = try RunningService()
    #expect(try eventually { try scrape(service).contains("reachd_netlink_readings_total") })
    for path in ["/status", "/hosts/127.0.0.1", "/nothing", "/livez"] {
      _ = try HTTPClient.get(url: service.url + path, timeout: .seconds(20), maximumBody: 1 << 20)
    }
    let child = try Child(try #require(Self.promtool), ["check", "metrics"], input: try scrape(service))
    #expect(try child.wait() == .exited(0))
    #expect(child.output + child.errors == "")
    let bad = try Child(try #require(Self.promtool), ["check", "metrics"], input: "# TYPE a_total gauge\na_total 1\n")
    #expect(try bad.wait() != .exited(0), "the checker sees what is wrong")
  }

  @Test func processAndServerMetricsAreExposed() throws {
    let service = try RunningService(listen: ["127.0.0.1:0", "127.0.0.1:0"])
    let first = try scrape(service)
    #expect(value("process_resident_memory_bytes", in: first) ?? 0 > 1_000_000)
    #expect(value("process_open_fds", in: first) ?? 0 >= 5)
    #expect(value("process_max_fds", in: first) ?? 0 >= 256)
    #expect(value("process_start_time_seconds", in: first) ?? 0 > 1_700_000_000)
    #expect(first.contains(#/reachd_build_info{version="[0-9.]+",commit="[0-9a-z-]+"}/#))
    for url in service.urls {
      #expect(value("reachd_http_connections{listener=\"\(url.dropFirst(7))\"}", in: first) != nil)
    }
    // The first scrape itself is counted by the second.
    let second = try scrape(service)
    let series = "reachd_http_requests_total{route=\"/metrics\",method=\"GET\",code=\"200\"}"
    #expect(value(series, in: second) == (value(series, in: first) ?? 0) + 1)
    let bytes = "reachd_http_body_bytes_total{listener=\"\(service.url.dropFirst(7))\"}"
    #expect(value(bytes, in: second) == Double(first.utf8.count))
  }
}
