public import ReachabilityModel

/// What can be said of a target without waiting.
package struct Glance: Sendable {
  /// The verdict by what the kernel would do with a packet of this instant, and what was read of interfaces.
  package var verdict: HostVerdict
  /// Whether the kernel knows of interfaces or addresses that may not have been read: then the verdict is a mistake.
  package var isBehind: Bool
  /// The types of the routes that the kernel would take.
  package var routeTypes: [RouteType]

  package init(verdict: HostVerdict, isBehind: Bool = false, routeTypes: [RouteType]) {
    (self.verdict, self.isBehind, self.routeTypes) = (verdict, isBehind, routeTypes)
  }
}

/// One verdict now, for those who do not subscribe.
extension ReachabilityMonitor {
  /// Judges a target now, by a fresh question to the kernel; works without ``start()``, too.
  ///
  /// Names are judged by the default path alone, without a query to any name server, unless `resolution` tells their
  /// addresses; `resolve(_:timeout:)` asks.
  ///
  /// It waits until the kernel has done what it has announced: usually some microseconds, but seconds where somebody adds or
  /// removes thousands of interfaces at once.
  ///
  /// - Parameters:
  ///   - target: what to judge.
  ///   - resolution: what is known of the target's name.
  /// - Returns: the verdict of this moment, without settle time.
  /// - Throws: a `KernelError` when the kernel cannot be asked.
  public func evaluate(
    _ target: ReachabilityTarget, resolution: NameResolution = .pending
  ) throws(KernelError) -> HostVerdict {
    try answers(to: [TargetQuestion(target: target, resolution: resolution)])[0].get()
  }

  /// The same on a thread that may wait, for callers that may not; after two seconds it is a ``glance(at:resolution:)``.
  ///
  /// - Parameters:
  ///   - target: what to judge.
  ///   - resolution: what is known of the target's name.
  ///   - completion: takes the verdict, exactly once, on that thread, or on the caller's where nothing can have to be waited
  ///     for; it must not block.
  package func judge(
    _ target: ReachabilityTarget, resolution: NameResolution = .pending,
    _ completion: @escaping @Sendable (Result<HostVerdict, KernelError>) -> Void
  ) {
    let question = TargetQuestion(target: target, resolution: resolution)
    if source.current?.answersAtOnce == true { return completion(answers(to: [question])[0]) }
    questions.add(.init(question: question, completion: completion)) { [self] in
      answers(to: $0)
    } glance: { [weak self] question in
      let glance = self?.glance(at: question.target, resolution: question.resolution)
      guard let glance, !glance.isBehind else {
        return .failure(KernelError(operation: "lookUp", errno: 0, message: "somebody holds the kernel's RTNL lock"))
      }
      return .success(glance.verdict)
    }
  }

  /// What can be said without waiting for changes that are under way; nil where nothing can: the monitor is not started, or
  /// the kernel cannot be asked.
  package func glance(at target: ReachabilityTarget, resolution: NameResolution = .pending) -> Glance? {
    guard let source = source.current, let tables = engine.tables else { return nil }
    let question = TargetQuestion(target: target, resolution: resolution)
    guard let answers = try? ask(queries(question, in: tables), source.glance) else { return nil }
    return glance(question, answers, in: tables)
  }

  // MARK: - The kernel's answers

  private func answers(to questions: [TargetQuestion]) -> [QuestionLine.Answer] {
    var verdicts = [HostVerdict?](repeating: nil, count: questions.count)
    do throws(KernelError) {
      if let source = source.current, let tables = engine.tables {
        let all = questions.flatMap { queries($0, in: tables) }
        do throws(KernelError) {
          let answers = try ask(all, source.lookUp)
          let glances = questions.map { glance($0, answers, in: tables) }
          verdicts = glances.map { $0.isBehind ? nil : $0.verdict }
        } catch {
          // One that was stopped meanwhile is like none.
          if self.source.current === source { throw error }
        }
      }
      // For all that are left one reading of everything.
      let rest = verdicts.indices.filter { verdicts[$0] == nil }
      if !rest.isEmpty {
        let fresh = try OneReading.take(from: makeSource(), rest.map { questions[$0] }, permitting: requirement)
        for (index, verdict) in zip(rest, fresh) { verdicts[index] = verdict }
      }
      return verdicts.compactMap(\.self).map { .success($0) }
    } catch {
      return verdicts.map { $0.map { .success($0) } ?? .failure(error) }
    }
  }

  private func queries(_ question: TargetQuestion, in tables: KernelTables) -> [RouteQuery] {
    TargetRules.queries(
      for: question.target, resolution: question.resolution, permitting: requirement, in: tables)
  }

  private func ask(
    _ queries: [RouteQuery], _ answer: ([RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]
  ) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    queries.isEmpty ? [:] : try answer(queries)
  }

  /// A verdict by the kernel's answers, among which there may be others' ones.
  private func glance(
    _ question: TargetQuestion, _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> Glance {
    let verdict = TargetRules.verdict(
      for: question.target, resolution: question.resolution, permitting: requirement, answers: answers, in: tables)
    let own = queries(question, in: tables).compactMap { answers[$0] }
    // What came a moment ago may be in the kernel's answer, or in the question, and not yet in what was read. Who has no
    // source of its own is not behind for want of an address: that may last, and a reading for each question is dear.
    let namesUnread =
      verdict.path.reason == .unknownInterface || verdict.path.reason == .noSource && question.target.source != nil
    let isBehind =
      verdict.path.status == .notReachable && (namesUnread || own.contains { $0.isYounger(than: tables) })
    return Glance(verdict: verdict, isBehind: isBehind, routeTypes: own.compactMap(\.found?.type))
  }
}
