internal import DequeModule
internal import HostResolver
internal import ReachabilityModel

/// The subscriptions to one watched name and the state of its lookup.
struct NameWatch {
  /// The numbers of the subscriptions, so that ending one twice, or before it began, does not end another.
  var subscriptions: Set<Int> = []
  var ephemeralSubscriptions: Set<Int> = []
  /// The client whose ephemeral subscription was the first, and which the lookups are counted for.
  var client: String?
  /// The generation of the current lookup; answers to others are ignored.
  var generation = 0
  /// The last answer, addresses or not found, kept while the servers fail: their outage changes neither; pending before the
  /// first.
  var answer = NameResolution.pending
  /// Waits for the answer, or for the end of its time to live.
  var task: Task<Void, Never>?
  var queued: NameWatchQueue.Kind?
  /// The queue that must contain it.
  var kind: NameWatchQueue.Kind { subscriptions.isEmpty ? .ephemeral : .regular }

  /// How long an answer is used: its time to live, and for the names of a client longer, if there are many.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - clientNames: the number of names that the same client watches; 0 for a name that not only clients watch.
  /// - Returns: the duration until the name is resolved again.
  static func timeToLive(
    of answer: Result<ResolvedAddresses, HostResolutionFailure>, clientNames: Int
  ) -> Duration {
    max(timeToLive(of: answer), Limits.clientNameInterval * clientNames)
  }

  private static func timeToLive(of answer: Result<ResolvedAddresses, HostResolutionFailure>) -> Duration {
    guard case .success(let addresses) = answer else { return Limits.failedNameRetry }
    // Addresses of the hosts file have no time to live.
    let timeToLive = addresses.compactMap(\.timeToLive).min() ?? Limits.longestTimeToLive
    return min(max(timeToLive, Limits.shortestTimeToLive), Limits.longestTimeToLive)
  }
}

/// Names that wait for a lookup.
struct NameWatchQueue {
  enum Kind {
    case regular, ephemeral

    /// The lookups that may be in progress.
    var limit: Int { self == .regular ? Limits.concurrentNames : Limits.concurrentEphemeralNames }
  }

  var waiting: Deque<ReachabilityTarget> = []
  /// Lookups in progress, including superseded ones until the resolver has ended them.
  var running = 0
}
