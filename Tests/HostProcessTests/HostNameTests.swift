import HostProcess
import TestSupport
import Testing

@Suite struct HostNameTests {
  @Test func itIsTheOneThatTheSystemTells() throws {
    let (_, output, _) = try Program.shell("uname -n")
    #expect(output == HostName.current + "\n" && output.count > 1)
  }
}
