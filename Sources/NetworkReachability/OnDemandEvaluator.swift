package import ReachabilityModel

/// A verdict that did not wait for changes in progress.
package struct ProvisionalVerdict: Sendable {
  /// The verdict by the route that a packet sent now would take, and the interfaces of the last reading.
  package var verdict: HostVerdict
  /// Whether the kernel may have interfaces or addresses that were not read yet: the verdict may be wrong then.
  package var isStale: Bool
  /// The types of the routes that a packet would take.
  package var routeTypes: [RouteType]

  package init(verdict: HostVerdict, isStale: Bool = false, routeTypes: [RouteType]) {
    (self.verdict, self.isStale, self.routeTypes) = (verdict, isStale, routeTypes)
  }
}

/// Evaluates targets on request, without a subscription.
struct OnDemandEvaluator: Sendable {
  let engine: Engine
  let source: ActiveKernelSource
  let makeSource: @Sendable () -> any KernelSource
  let requirement: InterfaceRequirement
  private let queue = OnDemandLookupQueue()

  init(
    engine: Engine, source: ActiveKernelSource, permitting requirement: InterfaceRequirement,
    makeSource: @escaping @Sendable () -> any KernelSource
  ) {
    self.engine = engine
    self.source = source
    self.requirement = requirement
    self.makeSource = makeSource
  }

  /// Evaluates a request; may block.
  func verdict(for request: OnDemandEvaluationRequest) throws(KernelError) -> HostVerdict {
    try verdicts(for: [request])[0].get()
  }

  /// Evaluates a request on the queue's thread, or on the caller's when the source does not block.
  func verdict(
    for request: OnDemandEvaluationRequest, completion: @escaping @Sendable (Result<HostVerdict, KernelError>) -> Void
  ) {
    if source.current?.answersImmediately == true { return completion(verdicts(for: [request])[0]) }
    queue.add(.init(request: request, completion: completion)) { [self] in
      verdicts(for: $0)
    } evaluateWithoutWaiting: { [self] request in
      guard let provisional = provisionalVerdict(for: request), !provisional.isStale else {
        return .failure(
          KernelError(operation: "lookUp", errno: 0, message: "another process holds the kernel's RTNL lock"))
      }
      return .success(provisional.verdict)
    }
  }

  /// Evaluates a request without blocking; nil when the monitor is not started or the lookup fails.
  func provisionalVerdict(for request: OnDemandEvaluationRequest) -> ProvisionalVerdict? {
    guard let source = source.current, let tables = engine.tables,
      let answers = try? lookUp(queries(request, in: tables), source.nonblockingLookup)
    else { return nil }
    return provisionalVerdict(for: request, answers, in: tables)
  }

  // MARK: - Lookups

  private func verdicts(for requests: [OnDemandEvaluationRequest]) -> [OnDemandLookupQueue.Answer] {
    var verdicts = [HostVerdict?](repeating: nil, count: requests.count)
    do throws(KernelError) {
      if let source = source.current, let tables = engine.tables {
        let all = requests.flatMap { queries($0, in: tables) }
        do throws(KernelError) {
          let answers = try lookUp(all, source.lookUp)
          let provisional = requests.map { provisionalVerdict(for: $0, answers, in: tables) }
          verdicts = provisional.map { $0.isStale ? nil : $0.verdict }
        } catch {
          // A source that was stopped meanwhile counts as none.
          if self.source.current === source { throw error }
        }
      }
      // The others are evaluated by one reading of all tables.
      let rest = verdicts.indices.filter { verdicts[$0] == nil }
      if !rest.isEmpty {
        let new = try OneShotEvaluation.verdicts(
          for: rest.map { requests[$0] }, from: makeSource(), permitting: requirement)
        for (index, verdict) in zip(rest, new) { verdicts[index] = verdict }
      }
      return verdicts.compactMap(\.self).map { .success($0) }
    } catch {
      return verdicts.map { $0.map { .success($0) } ?? .failure(error) }
    }
  }

  private func queries(_ request: OnDemandEvaluationRequest, in tables: KernelTables) -> [RouteQuery] {
    TargetRules.queries(for: request.target, resolution: request.resolution, permitting: requirement, in: tables)
  }

  private func lookUp(
    _ queries: [RouteQuery], _ answer: ([RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]
  ) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    queries.isEmpty ? [:] : try answer(queries)
  }

  /// A verdict by the kernel's answers, which may include those of other requests.
  private func provisionalVerdict(
    for request: OnDemandEvaluationRequest, _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> ProvisionalVerdict {
    let verdict = TargetRules.verdict(
      for: request.target, resolution: request.resolution, permitting: requirement, answers: answers, in: tables)
    let own = queries(request, in: tables).compactMap { answers[$0] }
    // An interface or address that was added just now may be part of the answer or the request, but not of the last
    // reading. A missing source address counts only when the request names it: otherwise it may be missing for long, and
    // reading all tables for each request is expensive.
    let namesUnread =
      verdict.path.reason == .unknownInterface || verdict.path.reason == .noSource && request.target.source != nil
    let isStale =
      verdict.path.status == .notReachable && (namesUnread || own.contains { $0.isNewer(than: tables) })
    return ProvisionalVerdict(verdict: verdict, isStale: isStale, routeTypes: own.compactMap(\.found?.type))
  }
}
