import StatusClient

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
