import Foundation
import Glibc
import TestSupport
import Testing

/// Runs in time namespaces (time_namespaces(7)), as LXC and runc make them: the boot id is that of the host, and CLOCK_BOOTTIME
/// begins with the container.
enum TimeNamespace {
  static let unshare = "/usr/bin/unshare"
  static let isSupported =
    (try? Child(unshare, ["--time", "--boottime", "1", "--fork", "/bin/true"]).wait()) == .exited(0)

  /// How to start a program whose clocks show this number of seconds now; nil for those of the host.
  static func launcher(_ uptime: Int?) throws -> [String] {
    guard let uptime else { return [] }
    let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
    let present = try #require(text.split(separator: ".").first.flatMap { Int($0) })
    let offset = "\(uptime - present)"
    return [unshare, "--time", "--boottime", offset, "--monotonic", offset, "--fork", "--kill-child=TERM"]
  }
}

@Suite(.enabled(if: TimeNamespace.isSupported, "needs time namespaces: run as root or under `unshare -Urn`"))
struct TimeNamespaceTests {
  private let directory: TemporaryDirectory
  private let web: RunningService

  init() throws {
    directory = try TemporaryDirectory()
    web = try RunningService()
  }

  /// Serves until the target was up for a time, in all runs together.
  ///
  /// - Returns: the seconds of the first response, and of the last.
  private func serve(_ uptime: Int?, until seconds: Double) throws -> (first: Double, last: Double) {
    let target = web.url.replacing("http://", with: "tcp://")
    let file = try TemporaryFile("targets: [{ id: web, target: \"\(target)\", interval: 100ms }]\n")
    let words =
      try TimeNamespace.launcher(uptime)
      + [Program.path, "serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"]
      + ["--config", file.path, "--data", "\(directory.path)/data"]
    let child = try Child(words[0], Array(words.dropFirst()), environment: Program.environment())
    func port() -> String? {
      child.errors.split(separator: " ").first { $0.hasPrefix("address=127.0.0.1:") }
        .flatMap { $0.split(separator: ":").last }.map { $0.filter(\.isNumber) }
    }
    #expect(eventually { port() != nil && child.errors.contains("\n") }, "\(child.errors)")
    let url = "http://127.0.0.1:\(try #require(port()))/targets/web/uptime?window=1h"
    func up() throws -> Double? {
      let curl = try Child("/usr/bin/curl", ["-s", "--max-time", "20", url])
      guard try curl.wait() == .exited(0), case .number(let seconds) = try JSONValue(curl.output)["seconds"]?["up"]
      else {
        return nil
      }
      return seconds
    }
    var found: [Double] = []
    #expect(
      try eventually {
        if let seconds = try up() { found.append(seconds) }
        return found.last ?? 0 >= seconds
      }, "\(found) \(child.errors)")
    // The program itself, not unshare(1), which ignores the signal.
    let children = try String(contentsOfFile: "/proc/\(child.id)/task/\(child.id)/children", encoding: .utf8)
    let process = uptime == nil ? child.id : children.split(separator: " ").first.flatMap { Int32($0) } ?? 0
    kill(process, SIGTERM)
    _ = try child.wait()
    return (try #require(found.first), try #require(found.last))
  }

  @Test(
    arguments: [
      [1, nil], [nil, 1], [1, 1], [100_000_000, 1], [1, nil, 1], [nil, nil],
    ] as [[Int?]])
  func earlierRunsStayInPlace(uptimes: [Int?]) throws {
    var before = 0.0
    for uptime in uptimes {
      let run = try serve(uptime, until: before + 2)
      // What was up in earlier runs is so in the first response of the next one.
      #expect(run.first >= before, "\(uptimes): \(run), \(before) before")
      before = run.last
    }
  }
}
