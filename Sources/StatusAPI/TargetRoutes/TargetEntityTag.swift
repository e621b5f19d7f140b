internal import Events
internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityChecks

/// The tag of a registered target, `"<epoch>-<definition>.<state>"`.
///
/// It is strong, because `If-Match` uses the strong comparison (RFC 9110 §13.1.1). Preconditions compare only the part
/// before the dot.
///
/// It changes with every `target` event and with the definition, and ends in `.r` for clients that receive redacted
/// URLs. It does not cover the other results of a check, so it does not validate a stored document.
struct TargetEntityTag: CustomStringConvertible {
  private let definition: EventID
  private let state: UInt64
  private let visibility: TargetVisibility

  init(_ report: TargetReport, _ visibility: TargetVisibility, _ context: RequestContext) {
    self.visibility = visibility
    definition = EventID(epoch: context.service.events.epoch, sequence: report.revision)
    state = report.changes
  }

  var description: String { "\"\(definition).\(state)\(visibility == .redacted ? Self.redacted : "")\"" }

  /// The suffix for a redacted representation: two representations must not share a tag (RFC 9110 §8.8.3).
  private static let redacted = ".r"

  /// Returns the conditions of `If-Match` and `If-None-Match`; both must hold (RFC 9110 §13.2.2).
  static func precondition(_ context: RequestContext) -> TargetPrecondition {
    let headers = context.request.headers
    let match = headers["If-Match"].map { list -> TargetPrecondition in
      let tags = tags(list)
      return tags == ["*"] ? .present : .revisions(tags.compactMap { revision($0, context) })
    }
    let noneMatch = headers["If-None-Match"].map { list -> TargetPrecondition in
      let tags = tags(list)
      // `If-None-Match` uses the weak comparison (§13.1.2).
      let own = tags.compactMap { revision($0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0, context) }
      return tags.contains("*") ? .absent : .otherThan(own)
    }
    guard let match, let noneMatch else { return match ?? noneMatch ?? .none }
    return .both(match, noneMatch)
  }

  private static func tags(_ list: String) -> [String] {
    list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
  }

  /// Returns the definition of a strong tag; nil for a tag of another origin.
  private static func revision(_ tag: String, _ context: RequestContext) -> UInt64? {
    guard tag.hasPrefix("\""), tag.hasSuffix("\""), tag.utf8.count > 1 else { return nil }
    let content = tag.dropFirst().dropLast()
    let parts = (content.hasSuffix(redacted) ? content.dropLast(redacted.count) : content)
      .split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let id = EventID(String(parts[0])), id.epoch == context.service.events.epoch
    else { return nil }
    return id.sequence
  }
}
