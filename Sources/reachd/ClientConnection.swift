internal import ArgumentParser
internal import StatusClient

/// The requests of a feed with the options of a command.
struct ClientConnection: ServiceConnection {
  var client: ClientOptions
  var source: SourceOptions

  func document(_ path: String) throws(ServiceConnectionError) -> HTTPClient.Response {
    try mapped { try client.send(path, accept: "application/json", source) }
  }

  func stream(
    _ path: String, after lastID: String?, onOpen: @escaping (_ date: Int?) -> Void,
    receive: @escaping ([UInt8]) -> Void
  ) throws(ServiceConnectionError) -> HTTPClient.Response {
    try mapped { try client.stream(path, after: lastID, source, onOpen: onOpen, receive: receive) }
  }

  private func mapped(_ request: () throws -> HTTPClient.Response) throws(ServiceConnectionError) -> HTTPClient.Response
  {
    do {
      return try request()
    } catch let code as ExitCode {
      throw .unusable(code)
    } catch {
      throw .noResponse("\(error)", hint: (error as? HTTPClientError)?.hint)
    }
  }
}
