import TestSupport
import Testing

@Suite("Libraries of the programs")
struct LibraryTests {
  @Test("Only reachd-fleet links the engine's client")
  func libraries() throws {
    func libraries(_ program: String) throws -> String {
      let child = try Child("/usr/bin/ldd", [program], environment: Program.environment())
      #expect(try child.wait() == .exited(0), "\(child.errors)")
      return child.output
    }
    let reachd = try libraries(Program.path)
    #expect(reachd.contains("libmicrohttpd") && !reachd.contains("libnats"))
    #expect(try libraries(Program.path + "-fleet").contains("libnats"), "the check finds libraries")
  }
}
