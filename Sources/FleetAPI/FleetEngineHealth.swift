internal import ReachabilityFleet

/// Whether the engine works for a replica: a pure state machine over its contacts and publications.
///
/// A connection says little: a server without a leader or with a full disk keeps it for days.
struct FleetEngineHealth: Sendable {
  /// The age of the last contact from which the engine does not answer: two requests for the stream's state were without an
  /// answer.
  static let contactLimit = Duration.seconds(5)
  /// How long a problem lasts until the log has a line: longer than an election among the servers.
  static let reportDelay = Duration.seconds(10)
  /// The time without a failed publication after which nothing waits to be published: a replica repeats its messages
  /// after some seconds.
  private static let failureAge = Duration.seconds(30)

  enum Problem: Hashable, Sendable {
    case disconnected
    /// There is one, and the stream neither delivers nor answers, or has no quorum.
    case silent
    /// It does not store messages.
    case refusing(FleetEngineError)
  }

  /// The failed publications by their reasons.
  private(set) var failures: [FleetEngineError.Reason: UInt64] = [:]
  private var refusal: (error: FleetEngineError, first: Duration, last: Duration)?
  /// When the present problem began; nil without one.
  private var start: Duration?
  private var isReported = false
  private let beginning: Duration

  init(at now: Duration) { beginning = now }

  /// A publication has ended.
  mutating func published(_ error: FleetEngineError?, at now: Duration) {
    if let error { failures[error.reason, default: 0] += 1 }
    switch error {
    // Replicas propose at the same time: the engine stores.
    case nil, .unexpectedLast: refusal = nil
    case .disconnected: break
    case let error?: refusal = (error, refusal?.first ?? now, now)
    }
  }

  /// The age of the last contact with the stream; that of this process before the first one.
  func age(of replica: FleetReplica, at now: Duration) -> Duration { now - (replica.contact.time ?? beginning) }

  func problem(of replica: FleetReplica, at now: Duration) -> Problem? {
    if age(of: replica, at: now) > Self.contactLimit { return replica.isConnected ? .silent : .disconnected }
    guard let refusal, now - refusal.last < Self.failureAge else { return nil }
    // During an election other publications fail, too.
    guard refusal.error == .full || now - refusal.first > Self.contactLimit else { return nil }
    return .refusing(refusal.error)
  }

  enum Report: Hashable, Sendable {
    /// A problem has lasted for some time.
    case began(Problem, age: Duration)
    /// It has ended after this time.
    case ended(after: Duration)
  }

  /// Considers the log, regularly.
  mutating func report(of replica: FleetReplica, at now: Duration) -> Report? {
    guard let problem = problem(of: replica, at: now) else {
      defer { (start, isReported) = (nil, false) }
      return isReported ? .ended(after: now - (start ?? now)) : nil
    }
    // It is noticed when the contact has this age.
    let start = start ?? now - Self.contactLimit
    self.start = start
    guard !isReported, now - start >= Self.reportDelay else { return nil }
    isReported = true
    return .began(problem, age: age(of: replica, at: now))
  }
}

extension FleetEngineHealth.Problem: CustomStringConvertible {
  var description: String {
    switch self {
    case .disconnected: "the engine is not connected"
    case .silent:
      "the engine is connected, and its stream has no quorum: too few of its servers run, or their disks are full"
    case .refusing(.full):
      "the engine stores no message: its disk, or nats-server's jetstream.max_file_store, is used up"
    case .refusing(.timedOut): "the engine does not acknowledge messages: its disk may be full"
    case .refusing(.failed(let text)): "the engine stores no message: \(text)"
    case .refusing(let error): "the engine stores no message: \(error.reason.rawValue)"
    }
  }
}

extension FleetEngineError {
  /// The kinds of failures, as metrics and the log name them.
  enum Reason: String, CaseIterable, Sendable {
    case conflict, timeout, disconnected, noResponders, noStream, full, other
  }

  var reason: Reason {
    switch self {
    case .unexpectedLast: .conflict
    case .timedOut: .timeout
    case .disconnected: .disconnected
    case .noResponders: .noResponders
    case .noStream: .noStream
    case .full: .full
    case .failed, .slowDown, .rejected, .duplicate: .other
    }
  }
}
