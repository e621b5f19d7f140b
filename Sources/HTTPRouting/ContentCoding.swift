internal import Compression
/// Content coding with gzip (RFC 9110 §8.4.1.3), for routes whose representations are large.
///
/// Compression takes about 10 ms per MiB, too long for the thread that serves requests: these routes are queued, or answer
/// later.
package enum ContentCoding {
  /// Smaller bodies are sent as they are, because a packet is not saved.
  package static let minimumBytes = 1024

  /// Whether a request accepts gzip; no `Accept-Encoding` accepts none here, as small clients cannot decode it.
  package static func acceptsGzip(_ request: HTTPRequest) -> Bool {
    guard let field = request.headers["Accept-Encoding"] else { return false }
    var wildcard = 0.0
    for part in HeaderFieldSyntax.parts(of: field, by: ",") {
      let parameters = HeaderFieldSyntax.parts(of: part, by: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let name = (parameters.first ?? "").lowercased()
      let weight =
        parameters.dropFirst().first { $0.lowercased().hasPrefix("q=") }
        .map { HeaderFieldSyntax.weight($0.dropFirst(2)[...]) ?? 0 } ?? 1
      if name == "gzip" || name == "x-gzip" { return weight > 0 }
      if name == "*" { wildcard = weight }
    }
    return wildcard > 0
  }

  /// Compresses the response of a reply if the request accepts it; waits for changes are answered without compression.
  package static func apply(_ reply: HTTPReply, to request: HTTPRequest) -> HTTPReply {
    let accepts = acceptsGzip(request)
    switch reply {
    case .now(let response):
      let response = varying(response)
      guard accepts, let body = compressible(response) else { return .now(response) }
      return .now(compressed(response, body))
    case .later(let start):
      return .later { promise in
        start(
          promise.map { response in
            let response = varying(response)
            guard accepts, let body = compressible(response) else { return response }
            return compressed(response, body)
          })
      }
    case .wait(let wait): return .wait(wait.map(varying))
    }
  }

  /// Adds the request header that selects the coding to `Vary`, for caches.
  private static func varying(_ response: HTTPResponse) -> HTTPResponse {
    guard response.headers["Vary"]?.contains("Accept-Encoding") != true else { return response }
    var response = response
    let vary = response.headers["Vary"].map { $0 + ", Accept-Encoding" }
    response.headers["Vary"] = vary ?? "Accept-Encoding"
    return response
  }

  private static func compressible(_ response: HTTPResponse) -> [UInt8]? {
    guard response.status == 200, response.headers["Content-Encoding"] == nil else { return nil }
    let bytes: [UInt8]
    switch response.body {
    case .bytes(let content): bytes = content
    case .shared(let shared): bytes = shared.bytes
    case .none, .stream: return nil
    }
    return bytes.count >= minimumBytes ? bytes : nil
  }

  private static func compressed(_ response: HTTPResponse, _ body: [UInt8]) -> HTTPResponse {
    guard let bytes = Gzip.compressed(body) else { return response }
    var response = response
    response.headers["Content-Encoding"] = "gzip"
    response.body = .bytes(bytes)
    return response
  }
}
