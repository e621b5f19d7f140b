import Probers
import StatusClient
import TestSupport

/// Reads the documents of a service.
struct ServiceReader {
  let url: String

  init(_ url: String) { self.url = url }

  /// The document of a response, whatever its status.
  func get(_ path: String) throws -> JSONValue {
    let answer = try HTTPClient.get(url: url + path, timeout: .seconds(20), maximumBody: 1 << 22)
    return try JSONValue(String(decoding: answer.body, as: UTF8.self))
  }
}

extension HTTPClient {
  /// Sends a GET request; see ``send(_:maximumBody:)``.
  static func get(
    url: String, headers: [String: String] = [:], timeout: Duration, maximumBody: Int, authorities: String? = nil,
    unixSocket: String? = nil, allowsUntrusted: Bool = false
  ) throws(HTTPClientError) -> (status: Int, contentType: String?, body: [UInt8]) {
    var request = Request(url, timeout: timeout)
    request.headers = headers
    request.authorities = authorities
    request.unixSocket = unixSocket
    request.allowsUntrusted = allowsUntrusted
    let response = try send(request, maximumBody: maximumBody)
    return (response.status, response.contentType, response.body)
  }
}
