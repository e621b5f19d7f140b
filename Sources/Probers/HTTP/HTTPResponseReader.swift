internal import ReachabilityModel

/// What came of an HTTP answer, within bounds, and whether it is what was expected.
struct HTTPResponseReader {
  private let options: HTTPOptions
  private var fields: [(name: String, value: String)] = []
  private var body: [UInt8] = []
  private(set) var bodyBytes = 0
  private var headerBytes = 0
  /// The body is longer than is read.
  private(set) var isTruncated = false
  /// What is wrong with the head, so that the rest is not read; nil for nothing.
  private(set) var headError: String?
  /// The head of the last answer is there: none that is provisional (RFC 9110 §15.2).
  private(set) var hasHead = false
  private var status = 0
  /// Whether the last line was a field that is wanted: the next one may go on with it.
  private var isOpen = false

  init(_ options: HTTPOptions) { self.options = options }

  /// Whether any of it has come.
  var hasStarted: Bool { headerBytes > 0 }

  private var needsBody: Bool { options.expectBody != nil || options.rejectBody != nil }

  /// Where the answer leads, as it says so itself: for several that is the first, as for libcurl.
  var location: String? { fields.first { $0.name == "location" && !$0.value.isEmpty }?.value }

  /// Whether we have ended the transfer, because there is nothing more to learn.
  var isFinished: Bool { isTruncated || isSwitchingProtocols }

  /// After 101, which nobody asked for, the peer speaks another protocol.
  private var isSwitchingProtocols: Bool { hasHead && status == 101 }

  private var isProvisional: Bool { status / 100 == 1 && status != 101 }

  /// Takes a header line; false: enough.
  mutating func take(header bytes: some Collection<UInt8>) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Limits.httpHeadBytes else {
      headError = "the answer's head is longer than \(Limits.httpHeadBytes) bytes"
      return false
    }
    // What comes behind the body is no part of the head (RFC 9110 §6.5).
    guard !hasHead, wants(bytes) else {
      isOpen = false
      return true
    }
    let line = String(decoding: bytes, as: UTF8.self)
    switch bytes.first {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return endHead()
    case UInt8(ascii: " "), UInt8(ascii: "\t"): appendFolded(with: line)
    default: begin(line)
    }
    return true
  }

  private static let firstBytes = Array("HLl\r\n".utf8)
  private static let length = Array("content-length:".utf8)

  /// Whether a line has to be looked at: of most fields nothing is wanted, and the first byte tells.
  private func wants(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first else { return false }
    if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { return isOpen }
    if !options.expectHeaders.isEmpty || Self.firstBytes.contains(first) { return true }
    // In lower case, if they are letters.
    return first | 0x20 == Self.length[0] && bytes.starts(with: Self.length) { $0 | 0x20 == $1 }
  }

  private mutating func begin(_ line: String) {
    isOpen = false
    if line.hasPrefix("HTTP/") {
      // What came before was provisional.
      fields = []
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
    } else if let colon = line.firstIndex(of: ":") {
      fields.append((line[..<colon].lowercased(), line[line.index(after: colon)...].trimmed))
      isOpen = true
    }
  }

  /// A line that begins with a space or a tab goes on with the field before it (RFC 9112 §5.2, obs-fold).
  private mutating func appendFolded(with line: String) {
    guard let last = fields.popLast() else { return }
    fields.append((last.name, "\(last.value) \(line.trimmed)".trimmed))
  }

  private mutating func endHead() -> Bool {
    isOpen = false
    guard !isProvisional else { return true }
    guard hasNoBody || hasLength else {
      headError = "the answer's Content-Length is no number of bytes"
      return false
    }
    hasHead = true
    return !isSwitchingProtocols
  }

  private var hasNoBody: Bool { options.method == "HEAD" || status == 204 || status == 304 }

  /// Whether all that is said of the body's length is one number (RFC 9112 §6.3); also if nothing is.
  private var hasLength: Bool {
    let lengths = fields.filter { $0.name == "content-length" }.flatMap { field in
      field.value.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
    }
    let numbers = lengths.map { text in
      text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
    return numbers.allSatisfy { $0 != nil && $0 == numbers[0] }
  }

  /// Takes a piece of the body; false: enough.
  mutating func take(body bytes: some Collection<UInt8>) -> Bool {
    let buffer = Limits.httpBodyBytes - bodyBytes
    isTruncated = bytes.count > buffer
    bodyBytes += min(bytes.count, buffer)
    if needsBody { body.append(contentsOf: bytes.prefix(buffer)) }
    return !isTruncated
  }

  /// What is not as expected; nil for nothing.
  func fault(status: Int, _ patterns: PatternCache) throws(PatternError) -> Finding? {
    let expected = options.expectStatus.isEmpty ? [200...299] : options.expectStatus
    guard expected.contains(where: { $0.contains(status) }) else {
      return Finding(.down, .httpStatus, detail: "the status is \(status), not \(Self.text(expected))")
    }
    for field in options.expectHeaders {
      let pattern = try patterns.pattern(field.value)
      let isThere = try pattern.matches(anyOf: fields.lazy.filter { $0.name == field.name.lowercased() }.map(\.value))
      if !isThere { return Finding(.down, .httpBody, detail: "the header field \(field.name) is not as expected") }
    }
    let extent = isTruncated ? "the first \(Limits.httpBodyBytes) bytes of the body do" : "the body does"
    if let text = options.expectBody, try !patterns.pattern(text).matches(body) {
      return Finding(.down, .httpBody, detail: "\(extent) not match what is expected")
    }
    if let text = options.rejectBody, try patterns.pattern(text).matches(body) {
      return Finding(.down, .httpBody, detail: "\(extent) match what must not be in it")
    }
    return nil
  }

  private static func text(_ ranges: [ClosedRange<Int>]) -> String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)…\($0.upperBound)" }.joined(separator: ", ")
  }
}
