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

  @Test("A libcurl without GnuTLS ends agents and replicas with 78", arguments: ["agent", "replica"])
  func otherTLSLibrary(_ role: String) throws {
    let directory = try TemporaryDirectory()
    let library = try PreloadedLibrary.build("tls", in: directory)
    let file = try directory.write(
      "listen: 127.0.0.1:0\nfleet: { id: a, zone: z, servers: [\"nats://127.0.0.1:1\"] }\n", as: "member.yaml")
    let child = try Child(
      Program.path + "-fleet", [role, "--config", file], environment: Program.environment(["LD_PRELOAD": library]))
    #expect(try child.wait() == .exited(78))
    #expect(child.errors.hasPrefix("reachd-fleet: libcurl uses OpenSSL/"), "\(child.errors)")
  }
}
