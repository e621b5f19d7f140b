/// The parameters of an ICMP echo check.
public struct ICMPOptions: Hashable, Sendable {
  /// The maximum number of echo requests per check.
  public static let maximumCount = 100
  /// The largest payload in bytes: an IPv4 packet of 1,500 bytes.
  public static let largestPayload = 1_472

  /// The number of echo requests, 1…100.
  public var count: Int
  /// The time between two requests.
  public var spacing: Duration
  /// Payload bytes per request, 0…1,472.
  public var payloadBytes: Int
  /// The tolerated loss ratio, 0…1; a higher one is `down` with `packetLoss`.
  ///
  /// By default only the loss of all requests counts.
  public var maximumLoss: Double
  /// The longest average round trip; a longer one is `down` with `slow`.
  ///
  /// Nil for no limit.
  public var maximumRoundTrip: Duration?

  /// Creates the parameters of an echo check.
  public init(
    count: Int = 1, spacing: Duration = .milliseconds(100), payloadBytes: Int = 28, maximumLoss: Double = 0.99,
    maximumRoundTrip: Duration? = nil
  ) {
    self.count = count
    self.spacing = spacing
    self.payloadBytes = payloadBytes
    self.maximumLoss = maximumLoss
    self.maximumRoundTrip = maximumRoundTrip
  }
}

extension CheckModule.Options {
  /// ICMP echo.
  public static func icmp(_ options: ICMPOptions) -> Self { Self(options) }
}

extension ICMPOptions: CheckOptions {
  package static let prober = "icmp"
  package static let schemes = [CheckTarget.Scheme.icmp]
  package static let keys = ["count", "spacing", "payloadBytes", "maximumLoss", "maximumRoundTrip", "addresses"]

  package init() { self.init(count: 1) }

  package mutating func read(_ fields: inout some CheckOptionFields) {
    count = fields.value("count", .integer(1...Self.maximumCount)) ?? count
    spacing = fields.value("spacing", .duration(.milliseconds(1) ... .seconds(10))) ?? spacing
    payloadBytes = fields.value("payloadBytes", .integer(0...Self.largestPayload)) ?? payloadBytes
    maximumLoss = fields.value("maximumLoss", .fraction) ?? maximumLoss
    maximumRoundTrip = fields.value("maximumRoundTrip", .duration(.microseconds(1) ... .seconds(60)))
  }

  package func series(_ result: CheckResult) -> [ProbeSeries] {
    let durations = ProbeSeries(
      "probe_icmp_duration_seconds", "Duration of icmp request by phase",
      // The socket exists before the first check.
      phases: ["resolve": result.duration(of: .resolve), "setup": .zero, "rtt": result.duration(of: .rtt)])
    let hops = result.evidence.icmp?.hopLimit.map {
      ProbeSeries("probe_icmp_reply_hop_limit", "Replied packet hop limit (TTL for ipv4)", Double($0))
    }
    return [durations, hops].compactMap(\.self)
  }
}

extension CheckResult {
  /// The statistics of ICMP echo requests and replies.
  public struct ICMP: Hashable, Sendable {
    /// The number of requests.
    public var sent: Int
    /// The number of replies.
    public var received: Int
    /// The shortest round trip; nil without replies.
    public var minimum: Duration?
    /// The average round trip.
    public var average: Duration?
    /// The longest round trip.
    public var maximum: Duration?
    /// The mean difference between consecutive round trips (RFC 3550 §6.4.1, without smoothing).
    public var jitter: Duration?
    /// The hop limit of the last reply; nil if unknown.
    public var hopLimit: Int?

    /// Creates the statistics of an echo check.
    public init(
      sent: Int, received: Int, minimum: Duration? = nil, average: Duration? = nil, maximum: Duration? = nil,
      jitter: Duration? = nil, hopLimit: Int? = nil
    ) {
      self.sent = sent
      self.received = received
      self.minimum = minimum
      self.average = average
      self.maximum = maximum
      self.jitter = jitter
      self.hopLimit = hopLimit
    }

    /// The loss ratio, 0…1.
    public var loss: Double { sent == 0 ? 0 : Double(sent - received) / Double(sent) }
  }
}

extension CheckResult.ICMP: CheckEvidence {
  package static let name = "icmp"

  package var members: KeyValuePairs<String, EvidenceValue> {
    [
      "sent": .integer(sent), "received": .integer(received), "loss": .number(loss),
      "minimumSeconds": .seconds(minimum), "averageSeconds": .seconds(average), "maximumSeconds": .seconds(maximum),
      "jitterSeconds": .seconds(jitter),
    ]
  }

  package var summary: String { "\(received) of \(sent) echo replies received" }

  package var remark: String? {
    guard let minimum, let average, let maximum else { return nil }
    let times = [minimum, average, maximum].map(\.inMilliseconds).joined(separator: "/")
    return " \(received)/\(sent) replies, round trip min/avg/max \(times) ms"
  }
}
