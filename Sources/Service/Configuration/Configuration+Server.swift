internal import EmbeddedHTTPServer
internal import HostProcess
internal import ReachabilityChecks

extension Configuration {
  /// Returns the settings of one of `count` servers, with the general limits and the rules of its own address.
  ///
  /// - Parameters:
  ///   - listener: the settings of the address.
  ///   - number: the number of the server.
  ///   - count: the number of servers.
  ///   - targetMemory: returns the bytes of memory that registered targets are charged with.
  /// - Returns: the settings.
  func server(
    _ listener: HTTPServerConfiguration, _ number: Int, of count: Int,
    besides targetMemory: @escaping @Sendable () -> Int
  ) -> HTTPServerConfiguration {
    var server = listener
    let own = self.listener(number, at: listener.address)
    server.servers = count
    server.identity = identity(of: own)
    server.strictTransport = strictTransport
    if let mode = own.mode { server.socketMode = mode }
    server.addressMayBeAbsent = own.isFreebind
    if let limit = connectionLimit { server.connectionLimit = limit }
    if let limit = connectionsPerAddress, limit > 0 { server.connectionsPerAddress = limit }
    if let limit = streamLimit { server.streamLimit = limit }
    server.streams = streams
    if let budget = CgroupMemory.limit().map(QuotaMemoryBudget.init) {
      let most = server.memory.guaranteed
      server.memory = HTTPServerConfiguration.ConnectionMemoryLimit(guaranteed: min(most, budget.guaranteedConnections))
      {
        min(most, budget.connections(besides: targetMemory()))
      }
    }
    if let limit = requestBodyLimit { server.requestBodyLimit = limit }
    return server
  }
}
