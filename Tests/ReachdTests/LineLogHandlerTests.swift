import Foundation
import Logging
import TestSupport
import Testing

/// The log of a real service: what people and collectors read.
@Suite struct LineLogHandlerTests {
  @Test func firstLogLineContainsTheAddress() throws {
    let service = try RunningService()
    let first = service.child.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.contains("address=\(service.url.dropFirst("http://".count))"))
    #expect(try service.terminate() == .exited(0))
  }

  @Test func jsonFormatWritesJSONLines() throws {
    let child = try Program.start(
      ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "trace", "--drain-delay", "0s"])
    #expect(eventually { child.errors.contains("first verdict") || child.errors.contains("kernel unavailable") })
    child.kill(15)
    #expect(try child.wait() == .exited(0))
    let lines = child.errors.split(separator: "\n")
    #expect(lines.count > 3)
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      for key in ["time", "level", "message"] { #expect(object?[key] is String, "\(line)") }
      if object?["message"] as? String == "first verdict" { #expect(object?["sequence"] as? Int == 1, "\(line)") }
      if object?["message"] as? String == "listening" { #expect(line.contains("\"tls\":false"), "\(line)") }
    }
    #expect(lines.first?.contains("\"address\":\"127.0.0.1:") == true)
  }
}
