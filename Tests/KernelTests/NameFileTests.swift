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
}
