public import ReachabilityModel

/// Diagnoses the outcome of a check in steps from the link to the application: the first failed step is the cause.
public struct Diagnosis: Hashable, Sendable {
  /// The steps in their order.
  public enum Step: String, Hashable, Sendable, CaseIterable {
    /// The policy allows the caller to contact the target.
    case policy
    /// An interface that is up and has a carrier.
    case link
    /// A source address.
    case address
    /// A route to the target, or a default route when it has no address.
    case route
    /// The target's addresses.
    case dns
    /// The targets that a registered target depends on.
    case dependency
    /// Echo replies.
    case icmp
    /// A TCP connection.
    case tcp
    /// A TLS session with a valid certificate.
    case tls
    /// The application's answer: HTTP, DNS, or an expected text over TCP.
    case answer
  }

  /// The result of a step.
  public enum Verdict: String, Hashable, Sendable {
    /// The step passed.
    case pass
    /// The step failed and is the cause.
    case fail
    /// The step was not reached, or there is no evidence for it.
    case notReached
  }

  /// A step with its verdict.
  public struct StepResult: Hashable, Sendable {
    /// The step.
    public var step: Step
    /// Its verdict.
    public var verdict: Verdict
    /// The evidence for the verdict.
    public var evidence: String
    /// What to try; nil unless the step failed.
    public var advice: String?
  }

  /// The outcome that was diagnosed.
  public var outcome: CheckOutcome
  /// The steps that apply to the target, in their order.
  public var steps: [StepResult]

  /// The failed step; nil when all passed, or the cause is unknown.
  public var failure: StepResult? { steps.first { $0.verdict == .fail } }

  /// Diagnoses an outcome.
  ///
  /// - Parameters:
  ///   - outcome: the outcome of a check.
  ///   - snapshot: the state of this machine, whose default path is used when the target has no address.
  public init(of outcome: CheckOutcome, in snapshot: Snapshot) {
    self.outcome = outcome
    let path = outcome.path ?? snapshot.machine.leading
    let links = DiagnosisLinks(snapshot.interfaces, named: outcome.request.interface)
    var failed = Self.failedStep(outcome, path)
    // The kernel removes the routes of a link that goes down, so that only a route seems to be missing.
    if failed == .route, links.areDown, [.noRoute, .networkUnreachable].contains(outcome.result.reason) {
      failed = .link
    }
    let steps = Self.steps(of: outcome)
    let failedIndex = failed.flatMap { steps.firstIndex(of: $0) }
    let text = DiagnosisText(outcome: outcome, path: path, machine: snapshot.machine.leading, links: links)
    self.steps = steps.enumerated().compactMap { index, step in
      guard step != .policy || failed == .policy else { return nil }
      if index == failedIndex {
        return StepResult(step: step, verdict: .fail, evidence: text.failure(step), advice: text.advice)
      }
      // When the target is not up for an unknown cause, no step is known to have passed.
      let isReached = failedIndex.map { index < $0 } ?? (outcome.result.state == .up)
      guard isReached, let evidence = text.success(step) else {
        return StepResult(step: step, verdict: .notReached, evidence: "")
      }
      return StepResult(step: step, verdict: .pass, evidence: evidence)
    }
  }

  private static func steps(of outcome: CheckOutcome) -> [Step] {
    let (request, server) = (outcome.request, outcome.server)
    var steps: [Step] = [.policy, .link, .address, .route]
    if case .name = server.host.remote { steps.append(.dns) }
    let scheme = server.scheme.descriptor
    switch scheme.transport {
    case nil: break
    case .icmp: steps.append(.icmp)
    case .udp: steps.append(.answer)
    case .tcp:
      steps.append(.tcp)
      if scheme.usesTLS { steps.append(.tls) }
      if request.module.options.value.expectsAnswer { steps.append(.answer) }
    }
    return steps
  }

  /// The step that a reason belongs to; nil when the cause is unknown.
  private static func failedStep(_ outcome: CheckOutcome, _ path: NetworkPath) -> Step? {
    guard outcome.result.state != .up, let reason = outcome.result.reason else { return nil }
    switch reason {
    case .policyDenied: return .policy
    case .linkDown, .connectionRequired, .interventionRequired, .unknownInterface: return .link
    case .noSource: return .address
    case .noRoute, .unreachableRoute, .blackhole, .networkUnreachable, .notUnicast: return .route
    // A route may prohibit, and so may a firewall, which affects the connection only.
    case .prohibited: return path.reason == .prohibited ? .route : transport(outcome.server.scheme)
    case .dnsNotFound, .dnsServerFailure, .dnsTimeout, .resolverUnavailable:
      return outcome.server.scheme == .dns && outcome.result.address != nil ? .answer : .dns
    case .hostUnreachable, .refused, .connectTimeout: return transport(outcome.server.scheme)
    case .tlsHandshake, .certificateExpired, .certificateUntrusted, .certificateNameMismatch: return .tls
    case .packetLoss, .slow: return transport(outcome.server.scheme)
    case .httpStatus, .httpBody: return .answer
    case .noReply, .reset, .timeout: return firstUnfinished(outcome)
    default: return nil
    }
  }

  private static func transport(_ scheme: CheckTarget.Scheme) -> Step {
    switch scheme.descriptor.transport {
    case .icmp: .icmp
    case .udp: .answer
    case nil: .route
    case .tcp: .tcp
    }
  }

  /// The first step whose phase is missing, for reasons that can occur in any step.
  private static func firstUnfinished(_ outcome: CheckOutcome) -> Step {
    let scheme = outcome.server.scheme
    guard transport(scheme) == .tcp else { return transport(scheme) }
    guard outcome.result.duration(of: .connect) != nil else { return .tcp }
    if scheme.descriptor.usesTLS, outcome.result.duration(of: .tls) == nil { return .tls }
    return .answer
  }
}
