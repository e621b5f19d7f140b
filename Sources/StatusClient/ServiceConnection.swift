internal import JSONFormat
internal import NetworkReachability

/// Sends the requests of a feed, with the address, the credentials and the limits of a service.
package protocol ServiceConnection: Sendable {
  func document(_ path: String) throws(ServiceConnectionError) -> HTTPClient.Response

  /// Receives an event stream until it ends; see ``HTTPClient/stream(_:maximumBody:onOpen:receive:)``.
  func stream(
    _ path: String, after lastID: String?, onOpen: @escaping (_ date: Int?) -> Void,
    receive: @escaping ([UInt8]) -> Void
  ) throws(ServiceConnectionError) -> HTTPClient.Response
}

package enum ServiceConnectionError: Error, CustomStringConvertible {
  /// The next attempt may succeed; with what the user can do about it.
  case noResponse(String, hint: String?)
  /// No attempt can succeed, because the settings cannot be used; the error is reported already.
  case unusable(any Error)

  package var description: String {
    switch self {
    case .noResponse(let reason, _): reason
    case .unusable(let error): "\(error)"
    }
  }
}

extension HTTPClient.Response {
  /// The largest number of characters to show of an unexpected response; a problem document has a few hundred.
  private static let displayedCharacterLimit = 2_000

  /// Whether this is an event stream.
  package var isStream: Bool { status == 200 && contentType?.hasPrefix("text/event-stream") == true }

  /// The detail of a problem document; nil for another body.
  package var detail: String? { (try? JSON.parse(body))?["detail"]?.string }

  /// The detail of a problem document, else the body, shortened.
  package var problem: String { Self.displayText(detail ?? String(decoding: body, as: UTF8.self)) }

  /// Returns a text of another program, shortened and on one line.
  package static func displayText(_ text: String) -> String {
    String(text.prefix(displayedCharacterLimit)).withoutControls + (text.count > displayedCharacterLimit ? "…" : "")
  }
}

extension HTTPClientError {
  /// What the user of a command can do; nil when the message implies it.
  package var hint: String? {
    switch reason {
    case .notConnected: "is the service running there? --url or REACHD_URL names another address"
    case .notResolved: "check the name in --url or REACHD_URL"
    case .tls:
      "a certificate of your own authority needs --cacert or REACHD_CACERT; without TLS, the address begins with http://"
    case .failed where url.hasPrefix("http://"):
      "if the service uses TLS, its address begins with https://; --url or REACHD_URL names another address"
    default: nil
    }
  }
}
