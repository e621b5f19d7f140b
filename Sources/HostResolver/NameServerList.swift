internal import Glibc
public import ReachabilityModel

extension Resolver {
  /// The DNS servers in use, as targets: those of the settings, or the current ones of resolv.conf(5).
  ///
  /// Entries that cannot be read are left out. Without any server the list contains this machine, as in c-ares.
  public var servers: [ReachabilityTarget] {
    let configured = configuration.servers.compactMap(Self.server)
    let found = configured.isEmpty ? Self.servers(in: Self.text(of: configuration.resolvConfPath)) : configured
    return found.isEmpty ? [ReachabilityTarget(.address(IPAddress(ipv4: 0x7f00_0001)))] : found
  }

  /// The servers of the `nameserver` lines.
  static func servers(in text: String) -> [ReachabilityTarget] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.count > 1, words[0] == "nameserver" else { return nil }
      return server(String(words[1]))
    }
  }

  /// The server of a text such as `10.0.0.53`, `10.0.0.53:5353`, `[fe80::1%eth0]:53`; nil when it is invalid.
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
  static func text(of path: String) -> String {
    // Non-blocking, because the path may be a pipe.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return "" }
    defer { close(file) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Limits.resolvConfBytes) { buffer, filled in
      filled = unsafe max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
