import Foundation
import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// A service with a configuration file that a test rewrites.
final class ReloadableService {
  let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString).yaml").path
  let service: RunningService
  private var reloads = 0

  init(_ text: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    service = try RunningService(["--drain-delay", "0s", "--config", path])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Rewrites the file, sends the signal and waits for the outcome in the metrics.
  func reload(_ text: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    reloads += 1
    service.child.kill(SIGHUP)
    #expect(
      try eventually {
        try total("success") + total("failure") == reloads
      }, "\(service.child.errors)")
  }

  func total(_ result: String) throws -> Int {
    try number("reachd_configuration_reloads_total{result=\"\(result)\"}")
  }

  func number(_ series: String) throws -> Int {
    let lines = try get("/metrics").text.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix(series + " ") }, "\(series)")
    return try #require(Int(line.dropFirst(series.utf8.count + 1)))
  }

  func get(_ path: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient.get(url: service.url + path, timeout: .seconds(20), maximumBody: 1 << 20)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }
}
