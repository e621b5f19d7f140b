import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// A thread of the running service whose system call does not return.
@Suite struct ThreadStallTests {
  private func get(_ service: RunningService, _ path: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient.get(url: service.url + path, timeout: patience, maximumBody: 1 << 22)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  /// The value of a series for the thread; nil without one.
  private func value(_ service: RunningService, _ name: String) throws -> Double? {
    let series = "\(name){thread=\"checks\"} "
    return try get(service, "/metrics").text.split(separator: "\n").first { $0.hasPrefix(series) }
      .flatMap { Double($0.dropFirst(series.utf8.count)) }
  }

  @Test func aStallIsReportedUntilItEnds() throws {
    let directory = try TemporaryDirectory()
    let library = try PreloadedLibrary.build("hang", in: directory)
    let port = try Loopback.closedPort()
    let configuration = try TemporaryFile(
      """
      policy: { allow: [127.0.0.0/8] }
      targets: [{ id: t, target: "tcp://127.0.0.1:\(port)", interval: 500ms, timeout: 400ms }]
      """)
    let service = try RunningService(
      ["--drain-delay", "0s", "--config", configuration.path],
      environment: ["LD_PRELOAD": library, "HANG_FILE": "\(directory.path)/hang"])
    #expect(try eventually { try value(service, "reachd_thread_stalls_total") == 0 })
    #expect(try get(service, "/readyz?verbose").text.contains("[+] threads ok\n"))

    let control = try directory.write("checks", as: "hang")
    #expect(try eventually(within: patience) { try value(service, "reachd_thread_stalls_total") == 1 })
    #expect(try value(service, "reachd_thread_stalled_seconds") ?? 0 >= 2)
    let stalled = try get(service, "/readyz?verbose")
    // A short stall is a warning.
    #expect(stalled.status == 200)
    #expect(stalled.text.contains(#/\[!\] threads stalled: checks for [0-9]+ s\n/#), "\(stalled.text)")
    #expect(eventually { service.child.errors.contains("thread stalled") })

    #expect(unsafe unlink(control) == 0)
    #expect(try eventually(within: patience) { try value(service, "reachd_thread_stalled_seconds") == 0 })
    #expect(eventually(within: patience) { service.child.errors.contains("thread continues") })
    #expect(try get(service, "/readyz?verbose").text.contains("[+] threads ok\n"))
    #expect(try value(service, "reachd_thread_stalls_total") == 1)
    #expect(try service.terminate() == .exited(0))
  }
}
