internal import Events
internal import EventStreams
internal import JSONFormat
internal import HTTPRouting
internal import ReachabilityChecks

/// A page of the list of registered targets, as selected by the query of `GET /targets`.
package struct TargetListQuery {
  /// The default and maximum number of targets per page.
  package static let defaultLimit = TargetPage.defaultLimit
  package static let limitMaximum = TargetPage.limitMaximum

  private let selection: TargetSelection
  private let page: TargetPage
  private var limit: Int { page.limit }
  private var cursor: String? { page.cursor }

  init(_ context: RequestContext) throws(Problem) {
    selection = try TargetSelection(context)
    page = try TargetPage(context)
  }

  func response(_ context: RequestContext) -> HTTPResponse {
    let visibility = TargetVisibility(context.routed)
    let last = context.service.events.lastEvent
    let reports = reports(context)
    let shown = reports.prefix(limit)
    let next = reports.count > limit ? shown.last?.definition.id : nil
    var headers = RepresentationHeaders.ofTargets(context.media)
    headers["ETag"] = tag(reports, visibility, context)
    headers["Last-Event-ID"] = last.description
    if let next { headers["Link"] = page.link("/targets", after: next, keeping: ["state", "label"], context) }
    return HTTPResponse(headers: headers, body: .bytes(body(shown, next, visibility, context)))
  }

  private func body(
    _ page: ArraySlice<TargetReport>, _ next: String?, _ visibility: TargetVisibility, _ context: RequestContext
  ) -> [UInt8] {
    if context.media == .text { return page.flatMap { Array((TargetRepresentation.line($0, visibility) + "\n").utf8) } }
    let documents = page.map { TargetRepresentation.document($0, visibility, context.service.monitor) }
    return JSON.members(["targets": .array(documents), "next": .text(next)]).bytes + [0x0a]
  }

  /// Returns a filter for changes that may concern the current page: of a target that is on it or now belongs on it.
  ///
  /// The filter runs for every change and every waiting client. It is cheap, so that only clients that receive a
  /// response cost an evaluation of all targets.
  func changeFilter(_ context: RequestContext) -> ChangeFilter<Transition> {
    let reports = reports(context)
    // Ordered hashes, because thousands of waiting clients may hold some hundred ids each.
    let members = reports.prefix(limit).map { EventLog.label($0.definition.id) }.sorted()
    let last = reports.count > limit ? reports[limit - 1].definition.id : nil
    return ChangeFilter(retainedBytes: members.count * MemoryLayout<UInt64>.size) { transition in
      guard case .target(let old, let report, let isRemoved) = transition.change else { return false }
      let id = report.definition.id
      if members.containsOrdered(EventLog.label(id)) { return true }
      if let cursor, id <= cursor { return false }
      // A target after the page changes only whether a next page exists: the last of them may have been removed.
      if let last, id > last { return isRemoved || selection.isSelected(old) && !selection.isSelected(report) }
      return selection.isSelected(report)
    }
  }

  /// Returns the current tag of the page: weak, because it covers the same facts as the tags of its targets.
  func tag(_ context: RequestContext) -> String {
    tag(reports(context), TargetVisibility(context.routed), context)
  }

  private func tag(_ reports: [TargetReport], _ visibility: TargetVisibility, _ context: RequestContext) -> String {
    // `Hasher` has a random key per process, which changes like the epoch.
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

  /// Returns the targets of the page, and one more if there is a next page.
  private func reports(_ context: RequestContext) -> [TargetReport] {
    context.service.targets.schedule.reports(after: cursor, limit: limit + 1, where: selection.isSelected)
  }
}

extension [UInt64] {
  /// Whether an array in ascending order contains a value.
  fileprivate func containsOrdered(_ value: UInt64) -> Bool {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if self[middle] == value { return true }
      range = self[middle] < value ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }
}
