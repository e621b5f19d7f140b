internal import HTTPRouting
internal import ReachabilityFleet
internal import StatusAPI

extension EntityTag {
  /// Creates the tag of a target of the fleet, `"<version>.<sequence>"`: the version of its definition, and the stream
  /// sequence of the last message that concerns its verdict or its votes.
  ///
  /// It is the same at every replica, and the version survives the loss of the stream.
  init(_ target: FleetFoldedTarget, _ visibility: TargetVisibility) {
    self.init(
      definition: target.version, state: max(target.changedAt, target.verdict?.sequence ?? 0),
      isRedacted: visibility == .redacted)
  }

  /// Creates the tag of a page of targets.
  init(_ page: ArraySlice<(id: String, target: FleetFoldedTarget)>, _ visibility: TargetVisibility) {
    self.init(of: page.lazy.flatMap { "\($0.id)\(EntityTag($0.target, visibility))".utf8 }, isWeak: false)
  }
}

/// `If-Match` and `If-None-Match` of a change (RFC 9110 §13.1): they compare the version only.
enum FleetTargetPrecondition {
  static func enforce(_ request: HTTPRequest, _ id: String, _ present: FleetFoldedTarget?) throws(Problem) {
    func has(_ tags: [EntityTag]) -> Bool { tags.contains { UInt64($0.definition) == present?.version } }
    let match = EntityTagList(ifMatch: request)
    let noneMatch = EntityTagList(ifNoneMatch: request)
    let isFulfilled =
      if present == nil {
        match == nil
      } else {
        match.map { $0.isWildcard || has($0.tags.filter { !$0.isWeak }) } ?? true
          && !(noneMatch.map { $0.hasWildcard || has($0.tags) } ?? false)
      }
    guard isFulfilled else {
      throw Problem(
        .preconditionFailed, "the target \(id) does not match If-Match or If-None-Match; GET it and retry")
    }
  }
}
