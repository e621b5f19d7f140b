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

  /// Creates the tag of a page of targets, which also covers whether another page follows.
  ///
  /// It is weak, because the compressed representation has the same one, and no precondition of a change compares it.
  init(_ page: FleetTargetPage, _ visibility: TargetVisibility) {
    let parts = page.targets.map { "\($0.id)\(EntityTag($0.target, visibility))" } + [page.next == nil ? "" : "+"]
    self.init(of: parts.lazy.flatMap(\.utf8), isWeak: true)
  }
}

/// `If-Match` and `If-None-Match` of a change (RFC 9110 §13.1): they compare the version only.
enum FleetTargetPrecondition {
  static func enforce(_ request: HTTPRequest, _ id: String, _ present: FleetFoldedTarget?) throws(Problem) {
    // As text, because a number may have a sign and zeros that no tag has.
    let version = present.map { String($0.version) }
    func has(_ tags: [EntityTag]) -> Bool { tags.contains { String($0.definition) == version } }
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
