internal import HTTPRouting
internal import ReachabilityChecks
internal import TextSyntax

/// A page of a list that is ordered by the ids of targets: the parameters `limit` and `cursor`, and the URL of the next page.
struct TargetPage {
  /// The default and maximum number of elements per page.
  static let defaultLimit = 100
  static let limitMaximum = 1_000

  let limit: Int
  /// The id after which the page begins; nil for the first page.
  let cursor: String?

  init(_ context: RequestContext, maximum: Int = Self.limitMaximum) throws(Problem) {
    limit = try ListLimit.parse(context.query["limit"], Self.defaultLimit, maximum)
    cursor = context.query["cursor"]
    if let cursor, !TargetSpec.isID(cursor) {
      throw Problem(.badRequest, "invalid cursor \(cursor.prefix(80).debugDescription); use the URL of the Link header")
    }
  }

  /// Returns the field `Link` with the URL of the next page, which has the same selection.
  ///
  /// - Parameters:
  ///   - path: the path of the list.
  ///   - next: the last id of this page.
  ///   - names: the parameters that select.
  ///   - context: the request.
  /// - Returns: the value of the field.
  func link(_ path: String, after next: String, keeping names: [String], _ context: RequestContext) -> String {
    let selection = names.compactMap { name in
      context.query[name].map { "\(name)=\(PercentEncoding.encoded($0))" }
    }
    return "<\(path)?\((selection + ["limit=\(limit)", "cursor=\(next)"]).joined(separator: "&"))>; rel=\"next\""
  }
}
