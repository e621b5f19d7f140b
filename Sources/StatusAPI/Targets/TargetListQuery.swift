internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityChecks

/// A page of the list of registered targets, as the query of `GET /targets` asks for it.
struct TargetListQuery {
  /// Targets of one page, by default and at the most.
  static let defaultLimit = 100
  static let limitMaximum = 1_000

  private let states: Set<TargetState>
  private let labels: [LabelSelector]
  private let limit: Int
  private let cursor: String?
  private let visibility: TargetVisibility

  init(_ context: RequestContext) throws(Problem) {
    visibility = TargetVisibility(context)
    states = try Self.states(context.query["state"])
    labels = try Self.labels(context.query["label"])
    limit = try Self.limit(context.query["limit"])
    cursor = context.query["cursor"]
    if let cursor, !TargetSpec.isID(cursor) {
      throw Problem(.badRequest, "cursor=\(cursor.prefix(80).debugDescription) is none that was given out.")
    }
  }

  /// The page as of now.
  func response(_ context: RequestContext) -> HTTPResponse {
    let last = context.service.events.lastEvent
    let reports = reports(context)
    let page = reports.prefix(limit)
    let next = reports.count > limit ? page.last?.definition.id : nil
    var headers = RepresentationHeaders.ofTargets(context.media)
    headers["ETag"] = tag(reports, context)
    headers["Last-Event-ID"] = last.description
    if let next { headers["Link"] = "<\(link(context, next))>; rel=\"next\"" }
    return HTTPResponse(headers: headers, body: .bytes(body(page, next, context)))
  }

  private func body(_ page: ArraySlice<TargetReport>, _ next: String?, _ context: RequestContext) -> [UInt8] {
    if context.media == .text { return page.flatMap { Array((TargetFormatter.line($0, visibility) + "\n").utf8) } }
    let documents = page.map { TargetRepresentation.document($0, visibility, context.service.monitor) }
    return JSON.members(["targets": .array(documents), "next": .text(next)]).bytes + [0x0a]
  }

  /// Tells of a change whether it may be one of the page as it is now: of a target that is on it, or belongs there.
  ///
  /// Asked for every change on behalf of everybody who waits for some page, so that a look at all targets is only for those
  /// who get an answer.
  func changeFilter(_ context: RequestContext) -> @Sendable (Transition) -> Bool {
    let reports = reports(context)
    // Hashes, for some hundred ids of each of thousands who wait.
    let members = Set(reports.prefix(limit).map { EventPublisher.topic($0.definition.id) })
    let last = reports.count > limit ? reports[limit - 1].definition.id : nil
    return { transition in
      guard case .target(let old, let report, let isRemoved) = transition.change else { return false }
      let id = report.definition.id
      if members.contains(EventPublisher.topic(id)) { return true }
      if let cursor, id <= cursor { return false }
      // Behind the page it matters whether there is anything: the last of them may have gone.
      if let last, id > last { return isRemoved || isSelected(old) && !isSelected(report) }
      return isSelected(report)
    }
  }

  /// The page's tag as of now: weak, for it tells of each target what its own tag does.
  func tag(_ context: RequestContext) -> String { tag(reports(context), context) }

  private func tag(_ reports: [TargetReport], _ context: RequestContext) -> String {
    // Keyed anew in every process, like the epoch.
    var hasher = Hasher()
    hasher.combine(visibility)
    hasher.combine(reports.count > limit)
    for report in reports.prefix(limit) {
      hasher.combine(report.definition.id)
      hasher.combine(report.revision)
      hasher.combine(report.changes)
    }
    return "W/\"\(context.service.events.epoch)-\(UInt(bitPattern: hasher.finalize()))\""
  }

  /// The targets of the page; one more than is wanted shows that there is a next one.
  private func reports(_ context: RequestContext) -> [TargetReport] {
    context.service.targets.schedule.reports(after: cursor, limit: limit + 1, where: isSelected)
  }

  private func isSelected(_ report: TargetReport) -> Bool {
    isSelected(report.status.state) && labels.allSatisfy { $0.matches(report.definition) }
  }

  private func isSelected(_ state: TargetState) -> Bool { states.isEmpty || states.contains(state) }

  // MARK: - The query

  private static func states(_ text: String?) throws(Problem) -> Set<TargetState> {
    guard let text else { return [] }
    var states: Set<TargetState> = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let state = TargetState(rawValue: String(word)) else {
        let known = TargetState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(.badRequest, "There is no state \(String(word.prefix(80)).debugDescription); there are \(known).")
      }
      states.insert(state)
    }
    return states
  }

  /// `env=prod`, or `env` for any value.
  private struct LabelSelector {
    var name: String
    var value: String?

    func matches(_ definition: TargetDefinition) -> Bool {
      guard let found = definition.labels[name] else { return false }
      return value.map { $0 == found } ?? true
    }
  }

  private static func labels(_ text: String?) throws(Problem) -> [LabelSelector] {
    guard let text else { return [] }
    var rules: [LabelSelector] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else {
        throw Problem(.badRequest, "label=\(text.prefix(80).debugDescription) is no list such as env=prod,team.")
      }
      rules.append(LabelSelector(name: String(name), value: parts.count > 1 ? String(parts[1]) : nil))
    }
    return rules
  }

  private static func limit(_ text: String?) throws(Problem) -> Int {
    guard let text else { return defaultLimit }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let limit = Int(text),
      (1...limitMaximum).contains(limit)
    else {
      throw Problem(.badRequest, "limit=\(text.prefix(80).debugDescription) is no number from 1 to \(limitMaximum).")
    }
    return limit
  }

  // MARK: - The next one

  /// The next page by the same rules.
  private func link(_ context: RequestContext, _ next: String) -> String {
    var items = ["limit=\(limit)", "cursor=\(next)"]
    for name in ["label", "state"] {
      guard let value = context.query[name] else { continue }
      items.insert("\(name)=\(PercentEncoding.encoded(value))", at: 0)
    }
    return "/targets?" + items.joined(separator: "&")
  }
}
