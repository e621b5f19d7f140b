public import ReachabilityModel

/// What stands between this machine and a target, rung by rung: the first that fails is the answer.
public struct Explanation: Hashable, Sendable {
  /// The steps from the cable to the application, in their order.
  public enum Rung: String, Hashable, Sendable, CaseIterable {
    /// Whether the caller may contact the target at all.
    case policy
    /// An interface that is up and has a carrier.
    case link
    /// An own address to send from.
    case address
    /// A route to the target, or where it has no address yet, a way out.
    case route
    /// The target's addresses.
    case dns
    /// Echo replies.
    case icmp
    /// A TCP connection.
    case tcp
    /// A TLS session with the right certificate.
    case tls
    /// The application's answer: of HTTP, of the DNS server that is the target, of a dialogue.
    case answer
  }

  /// How a rung holds.
  public enum Verdict: String, Hashable, Sendable {
    /// It holds.
    case pass
    /// It does not: this is the answer.
    case fail
    /// It was not reached, or nothing shows how it holds.
    case notReached
  }

  /// One rung.
  public struct Step: Hashable, Sendable {
    /// Which.
    public var rung: Rung
    /// How it holds.
    public var verdict: Verdict
    /// What shows it, in words.
    public var evidence: String
    /// What to try; nil where nothing is wrong.
    public var advice: String?
  }

  /// What was checked, and what came of it.
  public var outcome: CheckOutcome
  /// The rungs that this target has, from the cable up.
  public var steps: [Step]

  /// The first rung that fails; nil when all hold, or it could not be told.
  public var answer: Step? { steps.first { $0.verdict == .fail } }

  /// Explains an outcome.
  ///
  /// - Parameters:
  ///   - outcome: what a check found.
  ///   - snapshot: what is known of this machine: where the target has no address, its way out stands for the route.
  public init(of outcome: CheckOutcome, in snapshot: Snapshot) {
    self.outcome = outcome
    let path = outcome.path ?? snapshot.machine.leading
    let failing = Self.failingRung(outcome, path)
    let rungs = Self.rungs(of: outcome.request)
    let failingPlace = failing.flatMap { rungs.firstIndex(of: $0) }
    let text = ExplanationText(outcome: outcome, path: path, machine: snapshot.machine.leading)
    steps = rungs.enumerated().compactMap { place, rung in
      guard rung != .policy || failing == .policy else { return nil }
      if place == failingPlace {
        return Step(rung: rung, verdict: .fail, evidence: text.failure(rung), advice: text.advice)
      }
      // Without a failing rung but not up, nothing beyond what was reached is known.
      let isReached = failingPlace.map { place < $0 } ?? (outcome.result.state == .up)
      guard isReached, let evidence = text.success(rung) else {
        return Step(rung: rung, verdict: .notReached, evidence: "")
      }
      return Step(rung: rung, verdict: .pass, evidence: evidence)
    }
  }

  private static func rungs(of request: ProbeRequest) -> [Rung] {
    var rungs: [Rung] = [.policy, .link, .address, .route]
    if case .name = request.target.host.remote { rungs.append(.dns) }
    switch request.target.scheme {
    case .route: break
    case .icmp: rungs.append(.icmp)
    case .tcp:
      rungs.append(.tcp)
      if case .tcp(let recipe) = request.module.recipe, recipe.expect != nil { rungs.append(.answer) }
    case .tls: rungs += [.tcp, .tls]
    case .http: rungs += [.tcp, .answer]
    case .https: rungs += [.tcp, .tls, .answer]
    case .dns: rungs.append(.answer)
    }
    return rungs
  }

  /// The rung that a reason belongs to; nil when there is none to blame.
  private static func failingRung(_ outcome: CheckOutcome, _ path: NetworkPath) -> Rung? {
    guard outcome.result.state != .up, let reason = outcome.result.reason else { return nil }
    switch reason {
    case .policyDenied: return .policy
    case .linkDown, .connectionRequired, .interventionRequired, .unknownInterface: return .link
    case .noSource: return .address
    case .noRoute, .unreachableRoute, .blackhole, .networkUnreachable: return .route
    // The kernel's own prohibition is a route's, a firewall's shows at the connection.
    case .prohibited: return path.reason == .prohibited ? .route : transport(outcome.request.target.scheme)
    case .dnsNotFound, .dnsServerFailure, .dnsTimeout:
      return outcome.request.target.scheme == .dns && outcome.result.address != nil ? .answer : .dns
    case .hostUnreachable, .refused, .connectTimeout: return transport(outcome.request.target.scheme)
    case .tlsHandshake, .certificateExpired, .certificateUntrusted, .certificateNameMismatch: return .tls
    case .packetLoss, .slow: return transport(outcome.request.target.scheme)
    case .httpStatus, .httpBody: return .answer
    case .noReply, .reset, .timeout: return furthest(outcome)
    default: return nil
    }
  }

  private static func transport(_ scheme: ProbeTarget.Scheme) -> Rung {
    switch scheme {
    case .icmp: .icmp
    case .dns: .answer
    case .route: .route
    case .tcp, .http, .https, .tls: .tcp
    }
  }

  /// The first rung whose phase is missing: these reasons can strike anywhere.
  private static func furthest(_ outcome: CheckOutcome) -> Rung {
    let scheme = outcome.request.target.scheme
    guard transport(scheme) == .tcp else { return transport(scheme) }
    guard outcome.result.duration(of: .connect) != nil else { return .tcp }
    if [.https, .tls].contains(scheme), outcome.result.duration(of: .tls) == nil { return .tls }
    return .answer
  }
}
