internal import Glibc
public import ReachabilityModel

extension Resolver {
  /// Where the DNS servers are that are asked, as targets: by the settings, or as resolv.conf(5) has them at this moment.
  ///
  /// What cannot be read is left out. Without any it is this machine itself, as c-ares has it.
  public var servers: [ReachabilityTarget] {
    let configured = configuration.servers.compactMap(Self.server)
    let found = configured.isEmpty ? Self.servers(in: Self.text(of: configuration.resolvConfPath)) : configured
    return found.isEmpty ? [ReachabilityTarget(.address(IPAddress(ipv4: 0x7f00_0001)))] : found
  }

  /// The servers of the lines `nameserver`.
  static func servers(in text: String) -> [ReachabilityTarget] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.count > 1, words[0] == "nameserver" else { return nil }
      return server(String(words[1]))
    }
  }

  /// The server that a text such as `10.0.0.53`, `10.0.0.53:5353`, `[fe80::1%eth0]:53` means; nil when it is none.
  static func server(_ text: String) -> ReachabilityTarget? {
    var host = text[...]
    if host.hasPrefix("[") {
      host = host.dropFirst().prefix { $0 != "]" }
    } else if host.filter({ $0 == ":" }).count == 1 {
      host = host.prefix { $0 != ":" }
    }
    guard let target = try? ReachabilityTarget(host: String(host)), case .address = target.remote else { return nil }
    return target
  }

  /// The first bytes of a file; empty when it cannot be read.
  private static func text(of path: String) -> String {
    // Not blocking: somebody may have put a pipe there.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return "" }
    defer { close(file) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Limits.resolvConfBytes) { buffer, filled in
      filled = unsafe max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
