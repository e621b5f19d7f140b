public import Credentials
public import ReachabilityModel

/// One webhook of the configuration: where which events are sent, and how.
public struct WebhookDefinition: Sendable, Equatable {
  /// The default time limit of one attempt.
  public static let defaultTimeout = Duration.seconds(15)
  /// The default age at which undelivered events are dropped.
  public static let defaultMaximumAge = Duration.seconds(72 * 3_600)
  /// The default time for which an event is sent again after 401, 403 and 404.
  public static let defaultDeniedRetry = Duration.seconds(3_600)

  /// The id: it names the webhook in URLs and metrics, and its position in the events is stored under it.
  public var id: String
  /// The receiver, `https` or `http`; its path and query may be secret.
  public var url: CheckTarget
  /// The secrets, the newest first; each adds a signature to every request.
  public var secrets: [SigningSecret]
  /// The events that are sent.
  public var filter: WebhookFilter
  /// The time limit of one attempt, including name resolution.
  public var timeout: Duration
  /// The age at which undelivered events are dropped.
  public var maximumAge: Duration
  /// The time for which an event is sent again after 401, 403 and 404.
  public var deniedRetry: Duration

  /// Creates a webhook.
  public init(
    id: String, url: CheckTarget, secrets: [SigningSecret], filter: WebhookFilter = WebhookFilter(),
    timeout: Duration = defaultTimeout, maximumAge: Duration = defaultMaximumAge,
    deniedRetry: Duration = defaultDeniedRetry
  ) {
    self.id = id
    self.url = url
    self.secrets = secrets
    self.filter = filter
    self.timeout = timeout
    self.maximumAge = maximumAge
    self.deniedRetry = deniedRetry
  }

  /// Scheme, host and port of the receiver, without the path, which may contain a secret.
  public var origin: String {
    var origin = url
    origin.pathAndQuery = ""
    return "\(origin)"
  }
}
