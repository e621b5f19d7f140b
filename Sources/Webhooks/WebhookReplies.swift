internal import Locks

/// The clients that wait for the result of an attempt.
final class WebhookReplies: Sendable {
  typealias Reply = @Sendable (WebhookCommandResult) -> Void

  private struct Waiting {
    var replies: [Int: Reply] = [:]
    var lastToken = 0
  }

  private let waiting = Locked(Waiting())

  /// Adds a client; returns the token of its attempt.
  func add(_ reply: @escaping Reply) -> Int {
    waiting.withLock { waiting in
      waiting.lastToken += 1
      waiting.replies[waiting.lastToken] = reply
      return waiting.lastToken
    }
  }

  /// Replies to a client, once.
  func reply(_ token: Int, _ result: WebhookCommandResult) {
    waiting.withLock { $0.replies.removeValue(forKey: token) }?(result)
  }

  func endAll() {
    let replies = waiting.withLock { waiting in
      defer { waiting.replies = [:] }
      return Array(waiting.replies.values)
    }
    for reply in replies { reply(.busy) }
  }
}
