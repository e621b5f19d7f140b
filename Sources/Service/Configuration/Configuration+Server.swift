internal import EmbeddedHTTPServer
internal import HostProcess

extension Configuration {
  /// The divisor for the part of the memory limit that bodies of requests and responses may use: half of what the
  /// targets and the service leave (see ``MemoryBudget``).
  private static let transferMemoryShare = 8

  /// Returns the settings of one of `count` servers, with the general limits and the rules of its own address.
  func server(_ listener: HTTPServer.Configuration, _ number: Int, of count: Int) -> HTTPServer.Configuration {
    var server = listener
    let own = self.listener(number, at: listener.address)
    server.servers = count
    server.identity = identity(of: own)
    server.strictTransport = strictTransport
    if let mode = own.mode { server.socketMode = mode }
    if let limit = connectionLimit { server.connectionLimit = limit }
    if let limit = connectionsPerAddress, limit > 0 { server.connectionsPerAddress = limit }
    if let limit = streamLimit { server.streamLimit = limit }
    server.streams = streams
    if let memory = CgroupMemory.limit() {
      server.transferMemory = min(server.transferMemory, memory / Self.transferMemoryShare)
    }
    if let limit = requestBodyLimit { server.requestBodyLimit = limit }
    return server
  }
}
