import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// Files that the configuration names are renewed while the service runs, without a signal.
@Suite struct RotatedFilesTests {
  /// A directory as the kubelet makes it for a volume: the names are links through `..data`, which a renewal replaces.
  private final class Volume {
    let directory: TemporaryDirectory
    private var generation = 0

    init() throws { directory = try TemporaryDirectory() }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Replaces all files at the same time.
    func replace(_ files: [String: String]) throws {
      generation += 1
      let content = "..v\(generation)"
      guard unsafe mkdir(path(content), 0o700) == 0 else { throw TestError("mkdir") }
      for (name, text) in files {
        _ = try directory.write(text, as: "\(content)/\(name)")
        if generation == 1 { _ = unsafe symlink("..data/\(name)", path(name)) }
      }
      guard unsafe symlink(content, path("..new")) == 0, unsafe rename(path("..new"), path("..data")) == 0 else {
        throw TestError("rename")
      }
      if generation > 1 { _ = try Child("/bin/rm", ["-rf", path("..v\(generation - 1)")]).wait() }
    }
  }

  private static func text(_ path: String) throws -> String {
    let child = try Child("/bin/cat", [path])
    _ = try child.wait()
    return child.output
  }

  private static func pair(_ authority: TestAuthority) throws -> [String: String] {
    let files = try authority.issue("server")
    return ["tls.crt": try text(files.certificate), "tls.key": try text(files.key)]
  }

  private func serve(_ configuration: String, _ variables: [String: String] = [:]) throws -> (
    RunningService, TemporaryFile
  ) {
    let file = try TemporaryFile(configuration)
    return (try RunningService(["--drain-delay", "0s", "--config", file.path], environment: variables), file)
  }

  private func tls(_ volume: Volume) -> String {
    "tls: { certificate: \(volume.path("tls.crt")), key: \(volume.path("tls.key")) }\n"
  }

  /// Whether the service presents a certificate of an authority.
  private func isIssued(by authority: TestAuthority, _ service: RunningService) -> Bool {
    let url = service.url.replacing("http://", with: "https://")
    return
      (try? HTTPClient.get(
        url: "\(url)/livez", timeout: .seconds(20), maximumBody: 4_096, authorities: authority.certificate)) != nil
  }

  @Test func certificateOfAVolumeIsReplaced() throws {
    let (old, new, volume) = (try TestAuthority(), try TestAuthority(), try Volume())
    try volume.replace(try Self.pair(old))
    let (service, _) = try serve(tls(volume))
    #expect(isIssued(by: old, service) && !isIssued(by: new, service))
    try volume.replace(try Self.pair(new))
    #expect(eventually { isIssued(by: new, service) })
    // Once more: the watch follows the link.
    try volume.replace(try Self.pair(old))
    #expect(eventually { isIssued(by: old, service) })
  }

  @Test func certificateAndKeyAreWrittenOneAfterTheOther() throws {
    let (old, new, directory) = (try TestAuthority(), try TestAuthority(), try TemporaryDirectory())
    for (name, text) in try Self.pair(old) { _ = try directory.write(text, as: name) }
    let files = "certificate: \(directory.path)/tls.crt, key: \(directory.path)/tls.key"
    let (service, _) = try serve("tls: { \(files) }\n")
    #expect(isIssued(by: old, service))
    let pair = try Self.pair(new)
    for name in ["tls.crt", "tls.key"] {
      // As certbot and mv(1) do.
      _ = try directory.write(pair[name] ?? "", as: "new")
      #expect(unsafe rename("\(directory.path)/new", "\(directory.path)/\(name)") == 0)
    }
    #expect(eventually { isIssued(by: new, service) })
  }

  @Test func invalidFilesLeaveTheOldOnesInForce() throws {
    let (old, new, volume) = (try TestAuthority(), try TestAuthority(), try Volume())
    try volume.replace(try Self.pair(old))
    let (service, _) = try serve(tls(volume))
    for broken in [["tls.crt": "no certificate", "tls.key": "no key"], ["tls.crt": "", "tls.key": ""], [:]] {
      let before = service.child.errors.components(of: "configuration not reloaded")
      try volume.replace(broken)
      #expect(
        eventually { service.child.errors.components(of: "configuration not reloaded") > before },
        "\(broken) \(before) \(service.child.errors)")
      #expect(isIssued(by: old, service))
    }
    try volume.replace(try Self.pair(new))
    #expect(eventually { isIssued(by: new, service) })
  }

  @Test func tokensOfAVolumeAreReplaced() throws {
    let volume = try Volume()
    func token() throws -> (secret: String, entry: String) {
      let (_, output, errors) = try Program.run(["token", "create", "--scope", "read", "--id", "a"])
      let entry = try #require(errors.split(separator: "\n").first { $0.contains("sha256") })
      return (output.filter { $0 != "\n" }, String(entry))
    }
    let (first, second) = (try token(), try token())
    try volume.replace(["tokens.yaml": first.entry + "\n"])
    let (service, _) = try serve("access: { reads: token }\ntokensFile: \(volume.path("tokens.yaml"))\n")
    func status(_ secret: String) throws -> Int {
      try HTTPClient.get(
        url: "\(service.url)/status", headers: ["Authorization": "Bearer \(secret)"], timeout: .seconds(20),
        maximumBody: 1 << 20
      ).status
    }
    #expect(try status(first.secret) != 401 && status(second.secret) == 401)
    try volume.replace(["tokens.yaml": second.entry + "\n"])
    #expect(try eventually { try status(second.secret) != 401 })
    #expect(try status(first.secret) == 401)
  }

  /// A change of the file itself waits for SIGHUP, also while a certificate is renewed.
  @Test(arguments: [false, true]) func configurationFileIsFollowedOnRequestOnly(isWatched: Bool) throws {
    let (old, new, volume) = (try TestAuthority(), try TestAuthority(), try Volume())
    let base = "tls: { certificate: \(volume.path("tls.crt")), key: \(volume.path("tls.key")) }\n"
    func files(_ authority: TestAuthority, _ target: String) throws -> [String: String] {
      try Self.pair(authority).merging(
        ["reachd.yaml": base + "targets: [{ id: \(target), target: \"tcp://127.0.0.1:1\" }]\n"]) { $1 }
    }
    try volume.replace(try files(old, "one"))
    let service = try RunningService(
      ["--drain-delay", "0s", "--config", volume.path("reachd.yaml")],
      environment: isWatched ? ["REACHD_WATCH_CONFIGURATION": "true"] : [:])
    let url = service.url.replacing("http://", with: "https://")
    func hasTarget(_ id: String) throws -> Bool {
      try HTTPClient.get(
        url: "\(url)/targets/\(id)", timeout: .seconds(20), maximumBody: 1 << 20, allowsUntrusted: true
      ).status == 200
    }
    #expect(try hasTarget("one"))
    try volume.replace(try files(new, "two"))
    #expect(eventually { isIssued(by: new, service) })
    #expect(try hasTarget("two") == isWatched && hasTarget("one") != isWatched)
    service.child.kill(SIGHUP)
    #expect(try eventually { try hasTarget("two") })
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { split(separator: "\n").count { $0.contains(part) } }
}
