import Foundation
import Testing

@testable import Service

/// Every setting's good and bad values.
@Suite struct SettingTests {
  static let good: [String: [String]] = [
    "tls.certificate": ["/etc/reachd/tls.crt"],
    "tls.key": ["tls.key"],
    "tls.strictTransport": ["8760h", "0s"],
    "listen": [
      "unix:/run/reachd.sock", "127.0.0.1:0", "0.0.0.0:8080", "[::]:80", "[::1]:65535", "localhost:1",
      "[fe80::1%eth9]:80",
    ],
    "log.level": ["trace", "debug", "info", "notice", "warning", "error", "critical"],
    "log.format": ["text", "json"],
    "log.access": ["true", "false"], "watchConfiguration": ["true", "false"],
    "settle": ["0s", "10ms", "60s", "1m"],
    "drainDelay": ["0s", "2s", "10m"],
    "grace": ["0s", "10s", "1h"],
    "allowedHosts": ["reachd.internal", "a"],
    "streams": ["auto", "takeover", "callback"],
    "allowedOrigins": [
      "https://dash.example", "http://localhost:3000", "https://[fd00::1]:8443", "http://a:443", "https://[::1]",
      "https://a.example.",
    ],
    "access.reads": ["open", "token"],
    "access.checks": ["open", "token"],
    "access.badges": ["open", "token"], "access.gates": ["open", "token"],
    "data": ["/var/lib/reachd", "data"],
    "store.runtime": ["/run/reachd"],
    "store.maxSize": ["16MiB", "512MiB", "4GiB", "1024GiB"],
    "store.keep": ["1h", "60m", "400d", "3650d"],
    "page": ["on", "off"],
    "fleet.id": ["node1", "a.b-c_d"],
    "fleet.zone": ["b", "eu-1", ""],
    "fleet.labels": ["rack=7", "env="],
    "fleet.servers": ["nats://127.0.0.1:4222", "tls://a.example:4222", "nats://user:pass@[::1]:4222"],
    "fleet.credentialsFile": ["/etc/reachd/fleet.creds"],
    "fleet.ca": ["/etc/ssl/own.pem"],
    "fleet.permitUnsafeServers": ["true", "false"],
    "fleet.address": ["tcp://192.0.2.7:8080", "icmp://192.0.2.7"],
    "tokensFile": ["/run/secrets/reachd-tokens"],
    "limits.connections": ["1", "1000000"],
    "limits.connectionsPerAddress": ["0", "100"],
    "limits.streams": ["1", "1000000"],
    "limits.requestBody": ["0", "16777216"],
    "limits.targets": ["0", "10000", "100000"],
    "limits.checksPerSecond": ["0", "1000000"],
    "limits.changesPerSecond": ["0", "100"],
    "metrics.targetLabels": ["env", "app.kubernetes.io/name", "_team"],
    "resolver.servers": [
      "127.0.0.1", "127.0.0.1:53", "::1", "[::1]:53", "fd00::53", "fe80::53%lo", "[fe80::53%lo]:53",
    ],
    "resolver.timeout": ["1ms", "5s", "60s"],
  ]

  static let bad: [String: [String]] = [
    "tls.certificate": [""],
    "tls.key": [""],
    "tls.strictTransport": ["1", "8761h", "forever"],
    "listen": [
      "unix:", "unix:reachd.sock", "unix:/run/", "unix:/" + String(repeating: "a", count: 107), "8080", ":8080",
      "127.0.0.1", "::1", "127.0.0.1:65536", "host.example:80", "127.0.0.1:-1", "[::1]",
      "[fe80::1%]:80", "[fe80::1%a/b]:80", "[fe80::1%0123456789abcdef]:80", "127.0.0.1%lo:80",
    ],
    "log.level": ["INFO", "verbose", "0"],
    "log.format": ["JSON", "xml"],
    "log.access": ["yes", "1", "True"],
    "settle": ["10", "61s", "-1s", "soon", "2m"],
    "drainDelay": ["601s", "11m", "x"],
    "grace": ["3601s", "2h"],
    "allowedHosts": ["http://a", "a:80", "a/b", "ä", "a\u{1b}"],
    "streams": ["", "Auto", "both"],
    "allowedOrigins": [
      "*", "null", "dash.example", "https://", "https://dash.example/", "https://Dash.example", "ftp://dash.example",
      "https://a@b", "https://*.example", "https://a:443", "http://a:80", "https://a:b:c", "https://:80", "https://a:",
      "https://a:65536", "https://a:0", "https://a:0444", "https://::1", "https://[::1", "https://[a]", "https://[]:1",
      "https://[0::1]", "https://a..b", "https://a-:1:2",
    ],
    "access.reads": ["closed", "Open", ""],
    "access.checks": ["deny", ""],
    "access.badges": ["deny", ""], "access.gates": ["deny", ""],
    "data": [""],
    "store.runtime": [""],
    "store.maxSize": ["", "4", "1GB", "GiB", "15MiB", "1025GiB", "-1GiB"],
    "store.keep": ["", "d", "59m", "3651d", "-1d", "forever"],
    "page": ["", "true", "yes"],
    "fleet.id": ["", "Node1", "a b", ".a"],
    "fleet.zone": ["Zone A", "-"],
    "fleet.labels": ["rack", "=7", "rack=7,rack=8"],
    "fleet.servers": [
      "", "127.0.0.1:4222", "http://a:4222", "nats://a", "nats://a:0", "nats://:4222", "nats://a:4222/x",
    ],
    "fleet.credentialsFile": [""],
    "fleet.ca": [""],
    "fleet.permitUnsafeServers": ["", "yes", "1", "True"],
    "fleet.address": ["", "192.0.2.7", "http://192.0.2.7:80", "tcp://192.0.2.7"],
    "tokensFile": [""],
    "watchConfiguration": ["", "yes", "1"],
    "limits.connections": ["0", "1000001", "many", "-1", "1.5"],
    "limits.connectionsPerAddress": ["-1", "few"],
    "limits.streams": ["0", "1e3", "1000001"],
    "limits.targets": ["-1", "100001", "all"],
    "limits.checksPerSecond": ["-1", "0.5", "1000001"],
    "limits.changesPerSecond": ["-1", "1.5", "1000001"],
    "metrics.targetLabels": ["", "id", "1st", "--x", "..name"],
    "limits.requestBody": ["-1", "16777217", "64k"],
    "resolver.servers": [
      "dns.example", "127.0.0.1:99999", "localhost:53", "[::1]", "1.1.1.1,8.8.8.8", "127.0.0.1:0", "10.0.0.53%lo",
      "2001:db8::53%lo", "fe80::53%a/b",
    ],
    "resolver.timeout": ["61s", "x", "0s"],
  ]

  @Test func everySettingHasATestValue() {
    #expect(Set(Setting.all.map(\.path)) == Set(Self.good.keys))
    #expect(Set(Setting.all.map(\.path)) == Set(Self.bad.keys))
  }

  @Test func liveSettingsExistAndAreDocumented() throws {
    let known = Set(
      Setting.all.map(\.path) + ListSetting.all.map(\.path) + ConfigurationFile.sections)
    #expect(Setting.reloadable.isSubset(of: known))
    // A row of docs/reference/settings.md: names, the columns between them, and whether SIGHUP changes the setting.
    let page = try String(contentsOf: Self.page, encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains("| yes |") }
    let documented = rows.flatMap { row in
      row.split(separator: "|")[0].split(separator: "`").map(String.init).filter(known.contains)
    }
    #expect(Set(documented) == Setting.reloadable.union(Setting.reloadableIfInitiallySet))
  }

  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/reference/settings.md")

  @Test(arguments: Setting.all.map(\.path))
  func validValuesAreAcceptedAndInvalidOnesRejected(path: String) throws {
    let setting = try #require(Setting.all.first { $0.path == path })
    for value in Self.good[path] ?? [] {
      var configuration = Configuration()
      #expect(setting.apply(&configuration, [value]), "\(value)")
    }
    for value in Self.bad[path] ?? [] {
      var configuration = Configuration()
      #expect(!setting.apply(&configuration, [value]), "\(value)")
    }
    #expect(!setting.expectation.isEmpty)
  }
}
