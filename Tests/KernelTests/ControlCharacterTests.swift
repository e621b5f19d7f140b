import TestSupport
import Testing

/// Interfaces whose names have control characters, which the kernel permits: no output has them.
@Suite(.needsNamespaces) struct ControlCharacterTests {
  /// A colour sequence, in 7 and 8 bits, and marks that reverse the text; names have at most 15 bytes.
  static let names = ["\u{1b}[31mred", "\u{9b}2Jx", "a\u{202e}b\u{2028}", "l\u{200f}m\u{61c}n", "\u{7f}\u{7}\u{8}x"]

  @Test(arguments: names) func noOutputHasControlCharacters(of name: String) throws {
    let pair = try VethPair()
    let client = pair.client
    try client.run("/sbin/ip", ["link", "set", "c0", "down"])
    try client.run("/sbin/ip", ["link", "set", "c0", "name", name])
    try client.run("/sbin/ip", ["link", "set", name, "up"])
    try client.run("/sbin/ip", ["route", "add", "default", "via", "10.9.0.1", "dev", name])
    let daemon = try DaemonUnderTest(
      in: client, configuration: "targets: [{id: t, target: \"tcp://10.9.0.1:9\", interval: 1h, timeout: 1s}]\n")
    let url = "http://127.0.0.1:\(daemon.port)"
    #expect(try eventually { try daemon.get("/targets/t").json["state"]?.text != "unknown" })
    func verify(_ text: String, _ origin: String) {
      #expect(!text.unicodeScalars.contains(where: Self.isControl), "\(origin): \(text.debugDescription)")
    }
    for command in [
      ["status", "--url", url], ["status", "--json", "--url", url], ["status", "--direct"],
      ["status", "--direct", "--json"],
      ["check", "route://192.0.2.1"], ["check", "tcp://10.9.0.1:9", "--explain", "--timeout", "1s"],
      ["check", "tcp://10.9.0.1:9", "--json", "--timeout", "1s"], ["check", "route://192.0.2.1", "--interface", name],
      ["check", "tcp://192.0.2.1:9", "--interface", name, "--explain", "--timeout", "100ms"],
      ["targets", "explain", "t", "--url", url], ["targets", "list", "--url", url], ["top", "--url", url],
      ["wait", "route://2001:db8::1", "--timeout", "100ms", "--json"],
      ["wait", "route://2001:db8::1", "--timeout", "100ms"],
    ] {
      let child = try client.spawn(DaemonUnderTest.program, command, environment: Program.bareEnvironment)
      try child.wait()
      verify(child.output + child.errors, "\(command)")
    }
    for (path, accept) in [
      ("/status", "text/plain"), ("/status", "application/json"), ("/metrics", "text/plain"), ("/interfaces", "*/*"),
      ("/hosts/192.0.2.1", "text/plain"), ("/hosts/192.0.2.1", "*/*"),
      ("/explain?target=route://192.0.2.1", "text/plain"),
      ("/check?target=route://192.0.2.1", "text/plain"), ("/targets", "text/plain"), ("/events", "application/json"),
    ] {
      verify(try daemon.get(path, ["Accept": accept]).text, "\(path) \(accept)")
    }
    verify(daemon.child.errors, "the log")
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x0a, 0x0b..<0x20, 0x7f..<0xa0, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
