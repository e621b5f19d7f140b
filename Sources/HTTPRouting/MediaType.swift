/// The representations of this API, and the selection by an `Accept` header (RFC 9110 §12.5.1).
package enum MediaType: String, Sendable {
  case json = "application/json"
  case text = "text/plain"
  case eventStream = "text/event-stream"
  case healthJSON = "application/health+json"
  case ndjson = "application/x-ndjson"
  case yaml = "application/yaml"
  case csv = "text/csv"
  case svg = "image/svg+xml"
  case html = "text/html"
  /// Files of several types, each with one representation: nothing is negotiated.
  case any = "*/*"

  /// The value of `Content-Type`.
  package var contentType: String { self == .text ? "text/plain; charset=utf-8" : rawValue }

  /// Returns the best of `mediaTypes` for this request; the first one without a preference.
  ///
  /// - Throws: `notAcceptable` with the list of available types.
  package static func negotiate(_ mediaTypes: [MediaType], for request: HTTPRequest) throws(Problem) -> MediaType {
    if mediaTypes == [.any] { return .any }
    guard let accept = request.headers["Accept"] else { return mediaTypes[0] }
    // Empty list elements are ignored (RFC 9110 §5.6.1); a list without elements expresses no preference.
    let ranges = HeaderFieldSyntax.parts(of: accept, by: ",").map(Range.init).filter { !$0.isEmpty }
    guard !ranges.isEmpty else { return mediaTypes[0] }
    var best: (offer: MediaType, quality: Double)?
    for offer in mediaTypes {
      let quality = ranges.filter { $0.matches(offer) }.max { $0.specificity < $1.specificity }?.quality ?? 0
      if quality > best?.quality ?? 0 { best = (offer, quality) }
    }
    guard let best else {
      let list = mediaTypes.map(\.rawValue).joined(separator: ", ")
      throw Problem(.notAcceptable, "Accept must match one of \(list), got \(accept.debugDescription)")
    }
    return best.offer
  }

  /// One range of an `Accept` header: `text/*;q=0.5`.
  private struct Range {
    var type: Substring
    var subtype: Substring
    var quality = 1.0
    /// Whether the range consists of white space only.
    var isEmpty: Bool
    /// How exactly the range names a type: the most specific match decides (RFC 9110 §12.5.1).
    var specificity: Int { (type == "*" ? 0 : 1) + (subtype == "*" ? 0 : 1) }

    init(_ text: Substring) {
      let parts = HeaderFieldSyntax.parts(of: text, by: ";").map { $0.lowercasedAndTrimmed }
      let names = (parts.first ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      type = names.first ?? ""
      isEmpty = parts.allSatisfy(\.isEmpty) && parts.count == 1
      subtype = names.count > 1 ? names[1] : ""
      for part in parts.dropFirst() where part.hasPrefix("q=") {
        // An invalid weight excludes the type.
        quality = HeaderFieldSyntax.weight(part.dropFirst(2)) ?? 0
      }
    }

    func matches(_ offer: MediaType) -> Bool {
      let names = offer.rawValue.split(separator: "/")
      return (type == "*" && subtype == "*") || (type == names[0] && (subtype == "*" || subtype == names[1]))
    }
  }
}

extension Substring {
  /// Lower case without white space, for the comparison of header parameters.
  fileprivate var lowercasedAndTrimmed: String {
    String(self).lowercased().split(whereSeparator: { $0 == " " || $0 == "\t" }).joined()
  }
}
