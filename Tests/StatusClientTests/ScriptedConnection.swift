import Locks

@testable import StatusClient

/// A service that answers as a test has written it, and whose settings become unusable at the end.
final class ScriptedConnection: ServiceConnection {
  /// One attempt to receive a stream.
  enum Attempt: Sendable {
    /// The parts that arrive before the stream ends.
    case stream([String])
    /// Another response.
    case response(HTTPClient.Response)
    /// No response.
    case failure(String, hint: String? = nil)
  }

  /// The end of the script.
  struct Exhausted: Error {}

  private struct State {
    var attempts: [Attempt]
    var documents: [String: [HTTPClient.Response]]
    var requests: [String] = []
  }
  private let state: Locked<State>

  /// Answers with these attempts one after the other, and the documents of a path one after the other; the last one repeats.
  init(_ attempts: [Attempt], _ documents: [String: [HTTPClient.Response]] = [:]) {
    state = Locked(State(attempts: attempts, documents: documents))
  }

  /// The paths that were requested, with the id after which a stream continues.
  var requests: [String] { state.withLock(\.requests) }

  static func json(_ text: String, status: Int = 200) -> HTTPClient.Response {
    HTTPClient.Response(status: status, contentType: "application/json", body: Array(text.utf8))
  }

  static func problem(_ detail: String, _ status: Int) -> HTTPClient.Response {
    json("{\"detail\": \"\(detail)\"}", status: status)
  }

  func document(_ path: String) throws(ServiceConnectionError) -> HTTPClient.Response {
    let response: HTTPClient.Response? = state.withLock { state in
      state.requests.append(path)
      guard let first = state.documents[path]?.first else { return nil }
      if state.documents[path, default: []].count > 1 { state.documents[path]?.removeFirst() }
      return first
    }
    guard let response else { throw .noResponse("no document at \(path)", hint: nil) }
    return response
  }

  func stream(
    _ path: String, after lastID: String?, onOpen: @escaping (_ date: Int?) -> Void,
    receive: @escaping ([UInt8]) -> Void
  ) throws(ServiceConnectionError) -> HTTPClient.Response {
    guard !path.hasPrefix("/fleet/") else { return Self.problem("no fleet", 404) }
    let attempt: Attempt? = state.withLock { state in
      state.requests.append([path, lastID].compactMap(\.self).joined(separator: " after "))
      return state.attempts.isEmpty ? nil : state.attempts.removeFirst()
    }
    switch attempt {
    case nil: throw .unusable(Exhausted())
    case .failure(let reason, let hint): throw .noResponse(reason, hint: hint)
    case .response(let response): return response
    case .stream(let parts):
      onOpen(1_000)
      for part in parts { receive(Array(part.utf8)) }
      return HTTPClient.Response(status: 200, contentType: "text/event-stream", body: [])
    }
  }
}
