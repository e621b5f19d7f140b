internal import ReachabilityModel
internal import TextSyntax

/// `?wait=30s` and `Prefer: wait=30` (RFC 7240): delays the response until the state that the client has changes.
package struct LongPoll {
  /// The longest wait: proxies and clients time out on idle connections, and a lost connection is detected by then.
  package static let waitLimit = Duration.seconds(600)

  /// How long to wait; nil for no wait.
  package var limit: Duration?
  /// The value of `Preference-Applied`; nil when the header has no preference or the query takes precedence.
  var applied: String?

  /// Reads the query, which takes precedence, and the header, which is never an error: a preference may be ignored.
  package init(_ routed: RoutedRequest) throws(Problem) {
    if let text = routed.query["wait"] {
      guard let limit = DurationFormat.parse(text), limit <= Self.waitLimit else {
        throw Problem(.badRequest, "wait must be a duration of at most 10m, such as 30s, got \(text.debugDescription)")
      }
      self.limit = limit
    } else if let seconds = routed.request.headers["Prefer"].flatMap(Self.preferredSeconds) {
      limit = .seconds(seconds)
      applied = "wait=\(seconds)"
    }
  }

  /// Returns the response with `Preference-Applied`, if a preference was applied.
  package func addingPreferenceApplied(_ response: HTTPResponse) -> HTTPResponse {
    guard let applied else { return response }
    var response = response
    response.headers["Preference-Applied"] = applied
    return response
  }

  /// Returns `wait` from a list of preferences, which may have parameters; at most the wait limit.
  private static func preferredSeconds(_ field: String) -> Int64? {
    for preference in HeaderFieldSyntax.parts(of: field, by: ",") {
      let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(\.trimmed)
      guard parts.count == 2, parts[0].lowercased() == "wait" else { continue }
      let digits = parts[1].split(separator: "\"").joined()
      guard !digits.isEmpty, digits.isDecimal else { return nil }
      // A number that overflows exceeds the limit, too.
      return min(Int64(digits) ?? .max, waitLimit.components.seconds)
    }
    return nil
  }
}
