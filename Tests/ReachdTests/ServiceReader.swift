import Probers
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
