internal import ReachabilityModel

/// What came of an HTTP answer, within bounds, and whether it is what was expected.
struct HTTPAnswer {
  private let recipe: HTTPRecipe
  private var fields: [(name: String, value: String)] = []
  private var body: [UInt8] = []
  private(set) var bodyBytes = 0
  private var headerBytes = 0
  /// The body is longer than is read.
  private(set) var isCut = false
  /// The head is longer than any honest one.
  private(set) var hasEndlessHead = false
  /// The head of the last answer is there: none that is provisional (RFC 9110 §15.2).
  private(set) var hasHead = false
  private var isProvisional = false
  /// Where the answer leads, as it says so itself.
  private(set) var location: String?

  init(_ recipe: HTTPRecipe) { self.recipe = recipe }

  /// Whether any of it has come.
  var hasBegun: Bool { headerBytes > 0 }

  private var needsBody: Bool { recipe.expectBody != nil || recipe.rejectBody != nil }

  /// Takes a header line; false: enough.
  mutating func take(header bytes: some Collection<UInt8>) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Limits.httpHeadBytes else {
      hasEndlessHead = true
      return false
    }
    // Of most fields nothing is wanted: only of the status line, `Location` and the empty line, by their first byte.
    guard !recipe.expectHeaders.isEmpty || bytes.first.map(Self.openings.contains) == true else { return true }
    let line = String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // What came before was provisional.
      fields = []
      location = nil
      isProvisional = line.drop { $0 != " " }.dropFirst().first == "1"
    } else if Self.trimmed(line[...]).isEmpty {
      hasHead = hasHead || !isProvisional
    } else if let colon = line.firstIndex(of: ":") {
      let (name, value) = (line[..<colon].lowercased(), Self.trimmed(line[line.index(after: colon)...]))
      if name == "location", !hasHead { location = value }
      if !recipe.expectHeaders.isEmpty { fields.append((name, value)) }
    }
    return true
  }

  private static let openings = Array("HLl\r\n".utf8)

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  /// Takes a piece of the body; false: enough.
  mutating func take(body bytes: some Collection<UInt8>) -> Bool {
    let room = Limits.httpBodyBytes - bodyBytes
    isCut = bytes.count > room
    bodyBytes += min(bytes.count, room)
    if needsBody { body.append(contentsOf: bytes.prefix(room)) }
    return !isCut
  }

  /// What is not as expected; nil for nothing.
  func fault(status: Int, _ patterns: PatternCache) throws(PatternError) -> Finding? {
    let expected = recipe.expectStatus.isEmpty ? [200...299] : recipe.expectStatus
    guard expected.contains(where: { $0.contains(status) }) else {
      return Finding(.down, .httpStatus, detail: "the status is \(status), not \(Self.text(expected))")
    }
    for field in recipe.expectHeaders {
      let pattern = try patterns.pattern(field.value)
      let isThere = try pattern.matches(anyOf: fields.lazy.filter { $0.name == field.name.lowercased() }.map(\.value))
      if !isThere { return Finding(.down, .httpBody, detail: "the header field \(field.name) is not as expected") }
    }
    let extent = isCut ? "the first \(Limits.httpBodyBytes) bytes of the body do" : "the body does"
    if let text = recipe.expectBody, try !patterns.pattern(text).matches(body) {
      return Finding(.down, .httpBody, detail: "\(extent) not match what is expected")
    }
    if let text = recipe.rejectBody, try patterns.pattern(text).matches(body) {
      return Finding(.down, .httpBody, detail: "\(extent) match what must not be in it")
    }
    return nil
  }

  private static func text(_ ranges: [ClosedRange<Int>]) -> String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)…\($0.upperBound)" }.joined(separator: ", ")
  }
}
