import Probers
import TestSupport
import Testing

/// The commands with the libcurl that Debian builds with OpenSSL, and with the one of this build.
@Suite struct TLSLibraryTests {
  private let directory: TemporaryDirectory
  private let library: String

  init() throws {
    directory = try TemporaryDirectory()
    library = try PreloadedLibrary.build("tls", in: directory)
  }

  private func run(_ arguments: [String]) throws -> (end: Child.End, output: String, errors: String) {
    try Program.run(arguments, environment: ["LD_PRELOAD": library])
  }

  @Test("This build has a libcurl with GnuTLS")
  func ownLibrary() { #expect(CurlLibrary.tlsProblem == nil) }

  @Test(
    "What needs the TLS sessions of checks ends with 78, and a sentence that says what to install",
    arguments: [
      ["serve", "--listen", "127.0.0.1:0"], ["check", "https://127.0.0.1:1/"], ["check", "HTTPS://127.0.0.1:1/"],
      ["check", "tcp://127.0.0.1:1", "https://127.0.0.1:1/"], ["wait", "https://127.0.0.1:1/", "--timeout", "1s"],
      ["wait", "route://127.0.0.1", "https://127.0.0.1:1/", "--any"],
    ])
  func refusal(_ arguments: [String]) throws {
    let (end, output, errors) = try run(arguments)
    #expect(end == .exited(78), "\(output)\(errors)")
    #expect(output.isEmpty)
    #expect(errors.hasPrefix("reachd: libcurl uses OpenSSL/"), "\(errors)")
    #expect(errors.contains("libcurl4-gnutls-dev"))
    #expect(errors.split(separator: "\n").count == 1)
  }

  @Test("Everything else works with any libcurl")
  func others() throws {
    let service = try RunningService()
    for arguments in [
      ["check", service.url.replacing("http://", with: "tcp://")], ["check", service.url + "/livez"],
      ["wait", "127.0.0.1"], ["healthcheck", "--url", service.url], ["status", "--url", service.url],
      ["config", "check"],
    ] {
      let (end, _, errors) = try run(arguments)
      // The machine may have no network.
      #expect(end == .exited(0) || arguments[0] == "status" && end == .exited(1), "\(arguments): \(errors)")
    }
  }
}
