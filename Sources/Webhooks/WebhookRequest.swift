internal import Credentials
internal import ReachabilityModel

/// One attempt as an HTTP request, and its result.
enum WebhookRequest {
  /// The networks that may receive plain HTTP: this machine, private networks, and the local link.
  private static let plainNetworks =
    ContactPolicy.privateNetworks
    + [("127.0.0.0", 8), ("169.254.0.0", 16), ("::1", 128), ("fe80::", 10)].compactMap { text, length in
      IPAddress(text).map { IPPrefix($0, length: UInt8(length)) }
    }

  private static let everywhere = ["0.0.0.0", "::"].compactMap { IPAddress($0).map { IPPrefix($0, length: 0) } }

  /// The request for one attempt; nil when it cannot be signed.
  ///
  /// The policy applies to the addresses of the receiver at the time of the connection: metadata services, the service's
  /// own ports and the denied blocks receive nothing. Redirects are not followed.
  static func make(
    _ message: WebhookMessage, for webhook: WebhookDefinition, at time: Timestamp, _ policy: ContactPolicy
  ) -> CheckRequest? {
    let seconds = time.microseconds / 1_000_000
    let body = Array(message.body.utf8)
    let signatures = webhook.secrets.compactMap { $0.signature(id: message.id, timestamp: seconds, body: body) }
    guard signatures.count == webhook.secrets.count else { return nil }
    var options = HTTPOptions()
    options.method = "POST"
    options.body = message.body
    options.bodyLimit = Limits.answerBytes
    options.headers = [
      HTTPOptions.Field(name: "Content-Type", value: WebhookMessage.contentType),
      HTTPOptions.Field(name: "webhook-id", value: message.id),
      HTTPOptions.Field(name: "webhook-timestamp", value: "\(seconds)"),
      HTTPOptions.Field(name: "webhook-signature", value: signatures.joined(separator: " ")),
      // Two webhooks with the same receiver and secret must not become one request.
      HTTPOptions.Field(name: "reachd-webhook", value: webhook.id),
    ]
    var policy = policy
    policy.profile = .default
    policy.allow = everywhere
    let port = webhook.url.port ?? 0
    let access: ModuleAccess =
      webhook.url.scheme == .http
      ? .hosts(plainNetworks.map { HostPattern(scheme: .http, host: .block($0), port: port) }) : .any
    let module = CheckModule(name: "webhook", options: .http(options), access: access)
    return CheckRequest(webhook.url, module: module, timeout: webhook.timeout, policy: policy)
  }

  /// What the result of a request means for the delivery.
  static func outcome(of result: CheckResult, wasCancelled: Bool, now: Timestamp) -> WebhookAttemptOutcome {
    // The status is enough, also when the rest of the answer did not arrive.
    if let answer = result.evidence.http {
      let delay = answer.retryAfter.flatMap { WebhookDeliveryRules.retryAfter($0, now: now) }
      return .answered(status: answer.status, retryAfter: delay)
    }
    if wasCancelled, result.reason == .cancelled { return .cancelled }
    if result.state == .unreachable { return .noRoute }
    if result.reason == .policyDenied {
      return .failed(
        "the address may not be contacted: a metadata service, a port of this service, a denied block, or plain HTTP to "
          + "a public address")
    }
    let text = [result.reason?.rawValue, result.detail].compactMap(\.self).joined(separator: ": ")
    return .failed(String(decoding: text.utf8.prefix(Limits.detailBytes), as: UTF8.self))
  }
}
