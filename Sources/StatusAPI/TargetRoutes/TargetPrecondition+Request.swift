internal import Events
internal import HTTPRouting
internal import ReachabilityChecks

extension EntityTag {
  /// Creates the tag of a registered target, `"<epoch>-<definition>.<state>"`.
  ///
  /// It is strong, because `If-Match` uses the strong comparison (RFC 9110 §13.1.1). It changes with every `target` event
  /// and with the definition. It does not cover the other results of a check, so it does not validate a stored document.
  init(_ report: TargetReport, _ visibility: TargetVisibility, _ context: RequestContext) {
    self.init(
      definition: EventID(epoch: context.service.events.epoch, sequence: report.revision), state: report.changes,
      isRedacted: visibility == .redacted)
  }

  /// The revision of a registered target; nil for a tag of another origin.
  fileprivate func revision(_ epoch: String) -> UInt64? {
    guard !state.isEmpty, state.isDecimal, let id = EventID(String(definition)),
      id.epoch == epoch
    else { return nil }
    return id.sequence
  }
}

extension TargetPrecondition {
  /// The conditions of `If-Match` and `If-None-Match`; both must hold (RFC 9110 §13.2.2).
  ///
  /// - Parameters:
  ///   - context: the request.
  ///   - epoch: the epoch of the tags; nil for that of events, which tags of targets have.
  init(_ context: RequestContext, epoch: String? = nil) {
    let epoch = epoch ?? context.service.events.epoch
    let match = EntityTagList(ifMatch: context.request).map { list -> TargetPrecondition in
      list.isWildcard ? .present : .revisions(list.tags.filter { !$0.isWeak }.compactMap { $0.revision(epoch) })
    }
    let noneMatch = EntityTagList(ifNoneMatch: context.request).map { list -> TargetPrecondition in
      // `If-None-Match` uses the weak comparison (§13.1.2).
      list.hasWildcard ? .absent : .otherThan(list.tags.compactMap { $0.revision(epoch) })
    }
    guard let match, let noneMatch else {
      self = match ?? noneMatch ?? .none
      return
    }
    self = .both(match, noneMatch)
  }
}
