internal import ReachabilityModel

/// The received part of an HTTP answer, within limits, and its comparison with the expectations.
struct HTTPResponseReader {
  let options: HTTPOptions
  private var fields: [HTTPOptions.Field] = []
  private var body: [UInt8] = []
  private(set) var bodyBytes = 0
  private var headerBytes = 0
  /// The body is longer than the limit.
  private(set) var isTruncated = false
  /// The error in the head that ends the transfer; nil for none.
  private(set) var headError: String?
  /// The head of the final answer is complete, not one of a provisional answer (RFC 9110 §15.2).
  private(set) var hasHead = false
  private var status = 0
  /// Whether the last line was a required field: the next line may continue it.
  private var isOpen = false

  init(_ options: HTTPOptions) { self.options = options }

  /// Whether any byte was received.
  var hasStarted: Bool { headerBytes > 0 }

  private var bodyLimit: Int { min(options.bodyLimit, HTTPOptions.largestBodyLimit) }

  private var needsBody: Bool { options.expectBody != nil || options.rejectBody != nil }

  /// The target of a redirect as the answer states it; of several fields the first counts, as in libcurl.
  var location: String? { fields.first { $0.name == "location" && !$0.value.isEmpty }?.value }

  var cookies: [String] { fields.filter { $0.name == "set-cookie" }.map(\.value) }

  /// The time that the server asks the client to wait, as the answer states it (RFC 9110 §10.2.3).
  var retryAfter: String? { fields.first { $0.name == "retry-after" }?.value }

  /// Whether the reader has ended the transfer, because the remaining bytes are not needed.
  var isFinished: Bool { isTruncated || isSwitchingProtocols }

  /// After an unrequested 101 the peer uses another protocol.
  private var isSwitchingProtocols: Bool { hasHead && status == 101 }

  private var isProvisional: Bool { status / 100 == 1 && status != 101 }

  /// Processes a header line; false to end the transfer.
  mutating func take(header bytes: some BidirectionalCollection<UInt8>) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Limits.httpHeadBytes else {
      headError = "the answer's head is longer than \(Limits.httpHeadBytes) bytes"
      return false
    }
    // Trailer fields are not part of the head (RFC 9110 §6.5).
    guard !hasHead, wants(bytes) else {
      isOpen = false
      return true
    }
    switch bytes.first {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return endHead()
    case UInt8(ascii: " "), UInt8(ascii: "\t"): appendFolded(with: bytes)
    default: begin(bytes)
    }
    return true
  }

  private static let version = Array("HTTP/".utf8)
  private static let firstBytes = Array("HLlRr\r\n".utf8)
  private static let length = Array("content-length:".utf8)
  private static let cookie = Array("set-cookie:".utf8)

  /// Whether a line must be parsed: most fields are not needed, and the first byte distinguishes them.
  private func wants(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first else { return false }
    if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { return isOpen }
    if !options.expectHeaders.isEmpty || Self.firstBytes.contains(first) { return true }
    return Self.isField(bytes, Self.length) || options.maximumRedirects > 0 && Self.isField(bytes, Self.cookie)
  }

  private static func isField(_ bytes: some Collection<UInt8>, _ name: [UInt8]) -> Bool {
    // In lower case, if they are letters.
    bytes.starts(with: name) { $0 == $1 || $0 | 0x20 == $1 }
  }

  /// Begins a status line or a field; in bytes, because every check executes this code.
  private mutating func begin(_ line: some BidirectionalCollection<UInt8>) {
    isOpen = false
    if line.starts(with: Self.version) {
      // The fields so far belong to a provisional answer.
      fields = []
      let word = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
      status = Int(Self.text(word.prefix { $0 != UInt8(ascii: " ") }.prefix(3))) ?? 0
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      fields.append(HTTPOptions.Field(name: name, value: Self.text(line[line.index(after: colon)...])))
      isOpen = true
    }
  }

  /// Appends a line that begins with a space or a tab to the preceding field (RFC 9112 §5.2, obs-fold).
  private mutating func appendFolded(with line: some BidirectionalCollection<UInt8>) {
    guard let last = fields.popLast() else { return }
    let text = Self.text(line)
    let value = last.value.isEmpty || text.isEmpty ? last.value + text : "\(last.value) \(text)"
    fields.append(HTTPOptions.Field(name: last.name, value: value))
  }

  /// The text without white space at both ends (RFC 9110 §5.5).
  private static func text(_ bytes: some BidirectionalCollection<UInt8>) -> String {
    let isText = { (byte: UInt8) in byte != 0x20 && !(0x09...0x0d).contains(byte) }
    guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else { return "" }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  private mutating func endHead() -> Bool {
    isOpen = false
    guard !isProvisional else { return true }
    guard hasNoBody || hasLength else {
      headError = "the answer's Content-Length is not a number of bytes"
      return false
    }
    hasHead = true
    return !isSwitchingProtocols
  }

  private var hasNoBody: Bool { options.method == "HEAD" || status == 204 || status == 304 }

  /// Whether the length of the body is one number or is absent (RFC 9112 §6.3).
  private var hasLength: Bool {
    var length: Int64?
    for field in fields where field.name == "content-length" {
      for part in field.value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let text = Self.text(part)
        guard text.isDecimal, let number = Int64(text), number == length ?? number
        else { return false }
        length = number
      }
    }
    return true
  }

  /// Processes a part of the body; false to end the transfer.
  mutating func take(body bytes: some Collection<UInt8>) -> Bool {
    let buffer = bodyLimit - bodyBytes
    isTruncated = bytes.count > buffer
    bodyBytes += min(bytes.count, buffer)
    if needsBody { body.append(contentsOf: bytes.prefix(buffer)) }
    return !isTruncated
  }

  private static let success = [200...299]

  /// The first unmet expectation; nil for none.
  func fault(status: Int, _ patterns: ProberPatternCache) throws(ProberPatternError) -> ProberResult? {
    let expected = options.expectStatus.isEmpty ? Self.success : options.expectStatus
    guard expected.contains(where: { $0.contains(status) }) else {
      return ProberResult(.down, .httpStatus, detail: "the status is \(status), not \(Self.text(expected))")
    }
    for field in options.expectHeaders {
      let pattern = try patterns.pattern(field.value)
      let isThere = try pattern.matches(anyOf: fields.lazy.filter { $0.name == field.name.lowercased() }.map(\.value))
      if !isThere {
        return ProberResult(.down, .httpBody, detail: "the header field \(field.name) does not match")
      }
    }
    let extent = isTruncated ? "the first \(bodyLimit) bytes of the body do" : "the body does"
    if let text = options.expectBody, try !patterns.pattern(text).matches(body) {
      return ProberResult(.down, .httpBody, detail: "\(extent) not match the expectation")
    }
    if let text = options.rejectBody, try patterns.pattern(text).matches(body) {
      return ProberResult(.down, .httpBody, detail: "\(extent) match an expression that must not match")
    }
    if options.rejectBody != nil, isTruncated {
      return ProberResult(
        .unknown, .bodyTooLong,
        detail: "the body is longer than \(bodyLimit) bytes; the rest may contain what must not match")
    }
    return nil
  }

  private static func text(_ ranges: [ClosedRange<Int>]) -> String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)…\($0.upperBound)" }.joined(separator: ", ")
  }
}
