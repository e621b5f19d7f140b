internal import TextSyntax

/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Equatable, CustomStringConvertible {
  /// The content between the quotes.
  package let opaque: String
  package let isWeak: Bool

  package init(_ opaque: String, isWeak: Bool = false) {
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// Creates the tag of a resource that has a definition and a state.
  ///
  /// Preconditions compare the definition only; a client that waits for a change compares all. Two representations must
  /// not share a tag, so a redacted one has its own.
  package init(definition: some CustomStringConvertible, state: UInt64, isRedacted: Bool) {
    self.init("\(definition).\(state)\(isRedacted ? Self.redacted : "")")
  }

  private static let redacted = ".r"

  /// Creates the tag of a content: equal contents have equal tags, also after a restart.
  package init(of content: some Sequence<UInt8>, isWeak: Bool) {
    var hash = FNV1aHash()
    hash.add(content)
    self.init(String(hash.value, radix: 16), isWeak: isWeak)
  }

  /// Parses a tag of a header field; nil for a text without quotes.
  package init?(parsing text: some StringProtocol) {
    let isWeak = text.hasPrefix("W/")
    let quoted = isWeak ? text.dropFirst(2) : text[...]
    guard quoted.hasPrefix("\""), quoted.hasSuffix("\""), quoted.utf8.count > 1 else { return nil }
    self.init(String(quoted.dropFirst().dropLast()), isWeak: isWeak)
  }

  package var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

  /// The definition of a tag from ``init(definition:state:isRedacted:)``.
  package var definition: Substring { opaque.prefix { $0 != "." } }

  /// The state of such a tag; empty for other tags.
  package var state: Substring {
    (opaque.hasSuffix(Self.redacted) ? opaque.dropLast(Self.redacted.count) : opaque[...])
      .dropFirst(definition.count + 1)
  }
}

/// The entity tags of a precondition (RFC 9110 §13.1).
package struct EntityTagList {
  package let tags: [EntityTag]
  /// Whether `*` is one of the elements, and whether it is the only one.
  package let hasWildcard: Bool
  package let isWildcard: Bool

  /// Reads `If-Match`; nil without the field.
  package init?(ifMatch request: HTTPRequest) { self.init(request.headers["If-Match"]) }

  /// Reads `If-None-Match`; nil without the field.
  package init?(ifNoneMatch request: HTTPRequest) { self.init(request.headers["If-None-Match"]) }

  private init?(_ field: String?) {
    guard let elements = field?.split(separator: ",").map(\.trimmed) else { return nil }
    tags = elements.compactMap(EntityTag.init(parsing:))
    hasWildcard = elements.contains("*")
    isWildcard = elements == ["*"]
  }

  /// Whether the client has the state of a tag: weak comparison, a list or `*`.
  package func matches(_ tag: String) -> Bool {
    guard !hasWildcard else { return true }
    let own = EntityTag(parsing: tag)
    return tags.contains { $0.opaque == own?.opaque }
  }

  /// Returns 304 if `If-None-Match` has the tag of a representation with these headers; nil otherwise.
  package func notModified(_ headers: HTTPHeaders) -> HTTPResponse? {
    guard let tag = headers["ETag"], matches(tag) else { return nil }
    var headers = headers
    for name in ["Content-Type", "Content-Encoding"] { headers[name] = nil }
    return HTTPResponse(status: 304, headers: headers)
  }
}
