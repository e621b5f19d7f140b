internal import Glibc
public import ReachabilityModel

extension Resolver {
  /// The DNS servers in use, as targets: those of the settings, or the current ones of resolv.conf(5).
  ///
  /// Entries that cannot be read are left out. Without any server the list contains this machine, as in c-ares.
  public var servers: [ReachabilityTarget] {
    let configured = configuration.servers.compactMap(NameServerList.server)
    var found =
      configured.isEmpty
      ? NameServerList.servers(in: NameServerList.text(of: configuration.resolvConfPath)) : configured
    if found.isEmpty, let local = NameServerList.server("127.0.0.1") { found = [local] }
    if ResolverSearchList.current(configuration.resolvConfPath).usesTCP {
      for index in found.indices { found[index].transport?.protocol = .tcp }
    }
    return found
  }
}

enum NameServerList {
  /// The servers of the `nameserver` lines.
  static func servers(in text: String) -> [ReachabilityTarget] {
    names(in: text).compactMap(server)
  }

  /// The texts of the `nameserver` lines.
  static func names(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split { $0 == " " || $0 == "\t" }
      return words.count > 1 && words[0] == "nameserver" ? String(words[1]) : nil
    }
  }

  /// The server of a text such as `10.0.0.53`, `10.0.0.53:5353`, `[fe80::1%eth0]:53`; nil when it is invalid.
  static func server(_ text: String) -> ReachabilityTarget? {
    var host = text[...]
    var port: Substring?
    if host.hasPrefix("[") {
      port = host.firstIndex(of: "]").map { host[$0...].dropFirst(2) }
      host = host.dropFirst().prefix { $0 != "]" }
    } else if host.filter({ $0 == ":" }).count == 1 {
      port = host.firstIndex(of: ":").map { host[$0...].dropFirst() }
      host = host.prefix { $0 != ":" }
    }
    guard var target = try? ReachabilityTarget(host: String(host)), case .address = target.remote else { return nil }
    target.transport = TransportSelector(.udp, port: port.flatMap { UInt16($0) } ?? 53)
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
