internal import CAres
internal import Glibc
internal import ReachabilityModel

/// The functions with which c-ares opens and uses sockets where servers have zones; otherwise it has its own.
///
/// c-ares 1.18 does not configure such sockets itself, so that these are made as it would make them.
enum AresSocketFunctions {
  /// The table that c-ares refers to as long as a channel exists.
  @safe nonisolated(unsafe) static let table: UnsafePointer<ares_socket_functions> = {
    let table = UnsafeMutablePointer<ares_socket_functions>.allocate(capacity: 1)
    unsafe table.initialize(
      to: ares_socket_functions(
        asocket: { domain, type, number, _ in
          let descriptor = socket(domain, type | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), number)
          var size = Limits.dnsReceiveBuffer
          let length = socklen_t(MemoryLayout<Int32>.size)
          if type == Int32(SOCK_DGRAM.rawValue) { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length) }
          return descriptor
        },
        aclose: { descriptor, _ in close(descriptor) },
        aconnect: { descriptor, address, length, context in unsafe connectSocket(descriptor, address, length, context)
        },
        arecvfrom: { descriptor, buffer, count, flags, address, length, _ in
          unsafe recvfrom(descriptor, buffer, count, flags, address, length)
        }, asendv: { descriptor, parts, count, _ in unsafe writev(descriptor, parts, count) }))
    return unsafe UnsafePointer(table)
  }()

  /// Connects to a server, with the zone that the list of servers has for it.
  private static func connectSocket(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t, _ context: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard let address = unsafe address, let context = unsafe context,
      unsafe Int32(address.pointee.sa_family) == AF_INET6, Int(length) >= MemoryLayout<sockaddr_in6>.size
    else { return unsafe connect(descriptor, address, length) }
    let channel = unsafe Unmanaged<AresChannel>.fromOpaque(context).takeUnretainedValue()
    var server = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
    let bytes = unsafe withUnsafeBytes(of: server.sin6_addr) { unsafe Array($0) }
    if server.sin6_scope_id == 0 { server.sin6_scope_id = channel.zone(of: bytes) }
    return unsafe withUnsafePointer(to: &server) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) }
    }
  }
}

extension AresChannel {
  /// Sets the servers of the settings, and those of resolv.conf(5) if one has a zone, which c-ares 1.18 does not read.
  func setServers(
    _ configuration: ResolverConfiguration, of opened: ares_channel
  ) throws(HostResolutionFailure) {
    var servers = configuration.servers
    if servers.isEmpty {
      let names = NameServerList.names(in: NameServerList.text(of: configuration.resolvConfPath))
      guard names.contains(where: { $0.contains("%") }) else { return }
      servers = names.filter { NameServerList.server($0) != nil }
    }
    if cares_reads_zones() == 0 {
      zones = NameServerList.zones(of: servers)
      if !zones.isEmpty { unsafe setSocketFunctions(of: opened) }
      servers = servers.map(NameServerList.withoutZone)
    } else {
      servers = servers.map(NameServerList.withZoneAtTheEnd)
    }
    let list = servers.joined(separator: ",")
    guard unsafe ares_set_servers_ports_csv(opened, list) == cares_success else {
      throw .serverFailure("the list of DNS servers is not usable: \(list)")
    }
  }

  /// Has c-ares open and connect sockets by functions that add the zones.
  private func setSocketFunctions(of opened: ares_channel) {
    unsafe cares_set_socket_functions(opened, AresSocketFunctions.table, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The interface that a link-local server is on; 0 for others.
  func zone(of address: [UInt8]) -> UInt32 { zones[address] ?? 0 }
}

extension NameServerList {
  /// The indexes of the interfaces that link-local servers are on, by address; a server whose interface is missing has none.
  static func zones(of servers: [String]) -> [[UInt8]: UInt32] {
    var zones: [[UInt8]: UInt32] = [:]
    for server in servers.compactMap(server) {
      guard case .address(let address) = server.remote, let name = server.interface else { continue }
      let index = unsafe if_nametoindex(name)
      if let index = index == 0 ? UInt32(name) : index { zones[address.octets] = index }
    }
    return zones
  }

  /// A server as c-ares 1.34 reads it, with the zone after the port: `[fe80::1]:53%eth0`.
  static func withZoneAtTheEnd(_ server: String) -> String {
    guard let zone = server.firstIndex(of: "%"), let end = server.firstIndex(of: "]"), zone < end else { return server }
    return String(server[..<zone] + server[end...] + server[zone..<end])
  }

  /// A server without its zone.
  static func withoutZone(_ text: String) -> String {
    guard let zone = text.firstIndex(of: "%") else { return text }
    return String(text[..<zone] + text[zone...].drop { $0 != "]" })
  }
}
