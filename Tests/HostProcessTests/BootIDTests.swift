import HostProcess
import Testing

@Suite struct BootIDTests {
  @Test("The boot id is one line")
  func line() { #expect(BootID.current.utf8.count == 36) }
}
