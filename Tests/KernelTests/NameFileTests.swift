import Glibc
import TestSupport
import Testing

/// The files that say how names are resolved, followed by the running program.
@Suite(.needsNamespaces) struct NameFileTests {
  private func write(_ path: String, _ text: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw TestError("fopen \(path)") }
    unsafe fputs(text, file)
    unsafe fclose(file)
  }

  /// With a file mounted over each of them, as container engines do: nothing happens in `/etc` itself then.
  @Test("E3-6 writing resolv.conf or hosts triggers a new lookup")
  func follows() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    let old = try pair.client.run { try DNSServer(host: 53, port: 53) { _, _ in .addresses([[203, 0, 113, 1]]) } }
    let newer = try pair.client.run { try DNSServer(host: 54, port: 53) { _, _ in .addresses([[203, 0, 113, 2]]) } }
    defer {
      old.stop()
      newer.stop()
    }
    let directory = "/tmp/reachd-names-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    guard unsafe mkdir(directory, 0o755) == 0 else { throw TestError("mkdir \(directory)") }
    defer { _ = try? Child("/bin/rm", ["-rf", directory]).wait() }
    try write("\(directory)/resolv.conf", "nameserver 127.0.0.53\n")
    try write("\(directory)/hosts", "127.0.0.1 localhost\n")
    let mounts = ["resolv.conf", "hosts"].map { "mount --bind \(directory)/\($0) /etc/\($0)" }
    let commands = mounts + ["exec reachd watch db.example --json"]
    let watch = try pair.client.spawn(
      "/usr/bin/unshare", ["-m", "/bin/sh", "-euc", commands.joined(separator: "; ")],
      environment: Program.environment())
    defer { watch.kill() }
    #expect(eventually { watch.output.contains(#""address":"203.0.113.1""#) }, "\(watch.errors)")
    #expect(newer.total == 0)
    try write("\(directory)/resolv.conf", "nameserver 127.0.0.54\n")
    #expect(eventually { watch.output.contains(#""address":"203.0.113.2""#) })
    let asked = newer.total
    try write("\(directory)/hosts", "127.0.0.1 localhost\n203.0.113.3 db.example\n")
    #expect(eventually { watch.output.contains(#""address":"203.0.113.3""#) })
    #expect(newer.total == asked, "the hosts file comes first")
  }

  private static let hosts = """
    127.0.0.1 localhost
    10.1.1.1 four.example four
    fd00::6 six.example
    10.1.1.2 both.example
    fd00::2 both.example
    10.1.1.4 UPPER.example
    10.1.1.5 two.example
    10.1.1.6 two.example
    10.1.1.8 written.example.
    10.1.1.300 malformed.example
    10.1.1.9 first.example second.example # third.example

    """

  /// A file that has one family of a name answers alone, although the DNS has both; a final dot is part of a name there.
  @Test("Names have the addresses of getaddrinfo(3), wherever the hosts file and the DNS differ")
  func agreesWithLibrary() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    let server = try pair.client.run {
      try DNSServer(host: 53, port: 53) { _, type in
        .addresses([type == 28 ? [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [9] : [203, 0, 113, 9]])
      }
    }
    defer { server.stop() }
    let directory = "/tmp/reachd-names-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    guard unsafe mkdir(directory, 0o755) == 0 else { throw TestError("mkdir \(directory)") }
    defer { _ = try? Child("/bin/rm", ["-rf", directory]).wait() }
    try write("\(directory)/resolv.conf", "nameserver 127.0.0.53\n")
    try write("\(directory)/nsswitch.conf", "hosts: files dns\n")
    try write("\(directory)/hosts", Self.hosts)
    let names = [
      "four.example", "four", "six.example", "both.example", "upper.EXAMPLE", "FOUR.example", "two.example",
      "written.example", "written.example.", "four.example.", "six.example.", "malformed.example", "first.example",
      "second.example", "third.example", "dns.example", "dns.example.",
    ]
    let commands =
      ["resolv.conf", "nsswitch.conf", "hosts"].map { "mount --bind \(directory)/\($0) /etc/\($0)" }
      + names.map { "echo library \($0) $(getent ahosts \($0) | cut -d' ' -f1 | sort -u)" }
      + ["exec reachd watch \(names.joined(separator: " ")) --json"]
    let watch = try pair.client.spawn(
      "/usr/bin/unshare", ["-m", "/bin/sh", "-euc", commands.joined(separator: "\n")],
      environment: Program.environment())
    defer { watch.kill() }
    var library: [String: Set<String>] = [:]
    var resolved: [String: Set<String>] = [:]
    _ = eventually {
      for line in watch.output.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        if words.first == "library", words.count > 2 { library[words[1]] = Set(words.dropFirst(2)) }
        guard let host = (try? JSONValue(line))?["host"], let name = host["host"]?.text else { continue }
        resolved[name] = Set((host["addresses"]?.elements ?? []).compactMap { $0["address"]?.text })
      }
      return resolved.count == names.count && resolved.values.allSatisfy { !$0.isEmpty }
    }
    #expect(library.count == names.count, "\(watch.errors)")
    for name in names { #expect(resolved[name] == library[name], "\(name)") }
    #expect(resolved["four.example"] == ["10.1.1.1"] && resolved["six.example"] == ["fd00::6"])
  }
}
