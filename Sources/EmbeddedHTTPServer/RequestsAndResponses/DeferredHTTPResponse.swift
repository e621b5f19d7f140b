final class DeferredHTTPResponse {
  /// A long poll.
  struct Wait {
    let expired: @Sendable () -> HTTPResponse
    /// Nil only until the wait has begun.
    var end: (@Sendable () -> Void)?
  }

  /// The response, once it is given.
  var reply: HTTPResponse?
  /// What the request waits for; nil for a promise without a wait, and after its end.
  var wait: Wait?
  /// Called when the response is not needed any more, by ``HTTPPromise`` and only if it was not fulfilled.
  var abandoned: (@Sendable () -> Void)?
}
