import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// `/metrics`, by its own words and by Prometheus' own checker.
@Suite struct MetricRegistryTests {
  private func value(_ series: String, in service: ScriptedService) throws -> Double? {
    let lines = try service.ask("/metrics").text.split(separator: "\n")
    return lines.first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
  }

  @Test func verdictIsExposed() throws {
    let service = try ScriptedService()
    #expect(try value("reachd_reachable{family=\"ipv4\"}", in: service) == 1)
    #expect(try value("reachd_reachable{family=\"ipv6\"}", in: service) == 0)
    #expect(try value("reachd_status{status=\"reachable\"}", in: service) == 1)
    #expect(try value("reachd_interfaces", in: service) == 2)
    #expect(try value("reachd_transitions_total{kind=\"status\"}", in: service) == 1)
    let since = try #require(try value("reachd_status_since_timestamp_seconds", in: service))
    #expect(since == 1_767_225_600)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    #expect(try value("reachd_reachable{family=\"ipv4\"}", in: service) == 0)
    #expect(try value("reachd_status{status=\"reachable\"}", in: service) == 0)
    #expect(try value("reachd_status{status=\"notReachable\"}", in: service) == 1)
    #expect(try value("reachd_transitions_total{kind=\"status\"}", in: service) == 2)
    #expect(try value("reachd_status_since_timestamp_seconds", in: service) ?? 0 > since)
    #expect(try service.ask("/metrics").text.contains("family=\"ipv4\",status=\"notReachable\",reason=\"noRoute\""))
  }

  @Test func timeInEachStatusIsCounted() throws {
    let service = try ScriptedService()
    func seconds(_ status: String) throws -> Double {
      try #require(try value("reachd_status_seconds_total{status=\"\(status)\"}", in: service))
    }
    let before = try (seconds("reachable"), seconds("notReachable"))
    #expect(before.1 == 0)
    #expect(try eventually { try seconds("reachable") > before.0 })
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    let reachable = try seconds("reachable")
    #expect(try eventually { try seconds("notReachable") > 0 })
    #expect(try seconds("reachable") == reachable)
  }

  @Test func watchedHostsAreExposed() throws {
    let service = try ScriptedService()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let subscription = service.monitor.listen(watching: [target], on: DeliveryContext { $0() }) { _ in }
    #expect(try value("reachd_watched_hosts", in: service) == 1)
    #expect(
      try value(
        "reachd_host_reachable{host=\"10.0.0.9\",source=\"\",interface=\"\",protocol=\"\",port=\"\"}", in: service) == 1
    )
    subscription?.cancel()
    #expect(try value("reachd_watched_hosts", in: service) == 0)
    #expect(
      try value(
        "reachd_host_reachable{host=\"10.0.0.9\",source=\"\",interface=\"\",protocol=\"\",port=\"\"}", in: service)
        == nil)
  }

  @Test func requestsAreCountedByRoute() throws {
    let service = try ScriptedService()
    func answer(_ target: String, _ method: String = "GET") throws {
      let response = try service.ask(target, method: method)
      service.router.environment.answered(
        HTTPAccess(
          request: HTTPRequest(method: method, target: target), target: target, peer: "", response: response,
          nanoseconds: 0))
    }
    for number in 0..<50 {
      try answer("/hosts/10.0.0.\(number)")
      try answer("/nothing/\(number)")
      try answer("/status", "VERB\(number)")
    }
    try answer("/hosts/a:1")
    try answer("/hosts/localhost")
    let lines = try service.ask("/metrics").text.split(separator: "\n").filter { $0.contains("requests_total{") }
    #expect(
      Set(lines) == [
        "reachd_http_requests_total{route=\"/hosts/{host}\",method=\"GET\",code=\"200\"} 51",
        "reachd_http_requests_total{route=\"/hosts/{host}\",method=\"GET\",code=\"400\"} 1",
        "reachd_http_requests_total{route=\"/status\",method=\"other\",code=\"405\"} 50",
        "reachd_http_requests_total{route=\"none\",method=\"GET\",code=\"404\"} 50",
      ])
  }

  @Test func seriesPerFamilyAreLimited() {
    var page = MetricExposition()
    page.add("a", .gauge, "All.", (0..<10_050).map { .init(Double($0), ["n": "\($0)"]) })
    #expect(String(decoding: page.bytes, as: UTF8.self).split(separator: "\n").count == 10_002)
    #expect(page.omitted == 50)
    page.add("b", .gauge, "None.", [])
    #expect(!String(decoding: page.bytes, as: UTF8.self).contains("b"))
  }

  @Test func targetsAreExposedWithTheChosenLabels() throws {
    let labels = try #require(MetricLabel.list(["env", "app.kubernetes.io/name"]))
    let service = try ScriptedService(.wired, .init { $0.metricLabels = labels })
    let expiry = Timestamp(microseconds: 1_800_000_000_000_000)
    service.prober.follow { request in
      var result =
        request.target.host.host == "10.0.0.9"
        ? TargetRoutesTests.result(.up) : TargetRoutesTests.result(.down, .refused)
      result.duration = .milliseconds(250)
      // An unneeded certificate, which the server also sends, has expired.
      let past = Timestamp(microseconds: 1_000_000_000_000)
      if request.target.scheme == .tls { result.evidence.tls = CheckResult.TLS(earliestExpiry: past, expiry: expiry) }
      return result
    }
    let named = #"{"env": "prod", "app.kubernetes.io/name": "a\"b", "other": "x"}"#
    for (id, body) in [
      ("db", #"{"target": "tls://10.0.0.9:1", "labels": \#(named)}"#),
      ("gone", #"{"target": "tcp://10.0.0.8:1", "fall": 1}"#),
      ("off", #"{"target": "tcp://10.0.0.9:1", "paused": true}"#),
    ] { #expect(try service.send("PUT", "/targets/\(id)", body).status == 201) }
    let schedule = service.service.schedule
    #expect(eventually { ["db", "gone"].allSatisfy { schedule.report(of: $0)?.status.lastResult != nil } })
    let lines = try service.ask("/metrics").text.split(separator: "\n").filter { $0.hasPrefix("reachd_target") }
    for line in [
      #"reachd_target_up{id="db",env="prod",app_kubernetes_io_name="a\"b"} 1"#, #"reachd_target_up{id="gone"} 0"#,
      #"reachd_target_info{id="db",state="up",reason=""} 1"#,
      #"reachd_target_info{id="gone",state="down",reason="refused"} 1"#,
      #"reachd_target_info{id="off",state="paused",reason=""} 1"#,
      #"reachd_target_last_duration_seconds{id="db"} 0.25"#,
      #"reachd_target_certificate_expiry_timestamp_seconds{id="db"} 1800000000"#,
      #"reachd_target_presented_certificate_expiry_timestamp_seconds{id="db"} 1000000"#, "reachd_targets_omitted 0",
    ] { #expect(lines.contains(Substring(line)), "\(line) in \(lines.joined(separator: "\n"))") }
    #expect(!lines.contains { $0.hasPrefix(#"reachd_target_up{id="off""#) })
  }

  @Test func targetsBeyondTheLimitOfSeriesAreCounted() throws {
    let service = try ScriptedService(.wired, .init { $0.limits = .init(targets: 100_000) })
    let target = try CheckTarget("route://10.0.0.9")
    _ = service.service.schedule.put(
      (0..<MetricExposition.sampleLimitPerFamily + 7).map {
        TargetDefinition(id: "t\($0)", target: target, isPaused: true)
      })
    #expect(try value("reachd_targets_omitted", in: service) == 7)
    let lines = try service.ask("/metrics").text.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("reachd_target_info{") } == MetricExposition.sampleLimitPerFamily)
  }

  @Test(arguments: [["id"], ["a.b", "a-b"], (0..<17).map { "l\($0)" }])
  func invalidMetricLabelsAreRefused(labels: [String]) { #expect(MetricLabel.list(labels) == nil) }

  @Test func labelValuesAreEscaped() throws {
    var page = MetricExposition()
    page.add("a", .gauge, "Odd.", [.init(.infinity, ["x": "\"} 1\nb \\"]), .init(.nan), .init(-0.5), .init(1e15)])
    #expect(
      String(decoding: page.bytes, as: UTF8.self)
        == "# HELP a Odd.\n# TYPE a gauge\na{x=\"\\\"} 1\\nb \\\\\"} +Inf\na NaN\na -0.5\na 1000000000000000\n")
    let service = try ScriptedService()
    service.kernel.change { script in
      script.addInterface(3, "x\"}\\1", addresses: ["10.1.0.5/24"])
      script.addDefault(via: "10.1.0.1", on: 3, metric: 1)
    }
    #expect(try service.ask("/metrics").text.contains("interface=\"x\\\"}\\\\1\""))
  }

  @Test func collectorCanBeAdded() throws {
    let service = try ScriptedService()
    service.service.add(MetricCollector { $0.add("reachd_more", .gauge, "More.", 7) })
    #expect(try value("reachd_more", in: service) == 7)
    #expect(try service.ask("/metrics").headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
  }
}
