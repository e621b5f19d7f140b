import DequeModule
import EventLoop
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting

/// A request that waits, seen from the server's side.
final class ParkedRequest {
  let limit: Duration
  private let wait: HTTPWait
  private let inbox: HTTPServerInbox
  private let finish: () -> Void
  private var received: HTTPResponse?

  init(_ wait: HTTPWait) throws {
    self.wait = wait
    limit = wait.limit
    inbox = try HTTPServerInbox()
    finish = wait.begin(HTTPPromise(inbox: inbox, connection: 1, request: 1))
  }

  /// The answer if it has come.
  var answer: HTTPResponse? {
    for case .reply(_, _, let response?) in inbox.take().messages { received = response }
    return received
  }

  func waitForAnswer() throws -> HTTPResponse {
    eventually { self.answer != nil }
    return try #require(answer, "no waiting client was answered")
  }

  /// What the server sends when the time is over.
  func expire() -> HTTPResponse { wait.expired() }

  /// The client is gone, or has its answer.
  func end() { finish() }
}

extension ScriptedService {
  /// Asks for something that is to wait.
  func park(_ target: String, _ headers: HTTPHeaders) throws -> ParkedRequest {
    var headers = headers
    headers["Host"] = "127.0.0.1:8080"
    switch router.handle(HTTPRequest(target: target, headers: headers)) {
    case .wait(let wait): return try ParkedRequest(wait)
    case .later(let start):
      let inbox = try HTTPServerInbox()
      start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
      var found: HTTPWait?
      eventually {
        for case .wait(_, _, let wait) in inbox.take().messages { found = wait }
        return found != nil
      }
      if let found { return try ParkedRequest(found) }
    case .now: break
    }
    throw TestError("\(target) does not wait")
  }
}
