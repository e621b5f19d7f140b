/// The rules a request head must obey before anything else looks at it.
///
/// libmicrohttpd 0.9.75 alone takes a repeated `Content-Length`, serves a request smuggled behind `Content-Length` plus
/// `Transfer-Encoding`, and hands malformed names through. Values arrive here untrimmed, as libmicrohttpd itself
/// judges them: it takes `chunked ` (with a space) for an unknown coding that lasts until the connection closes.
enum RequestGuard {
  /// What is wrong with a request head; nil when nothing is.
  static func check(method: String, target: String, version: String, headers: HTTPHeaders) -> RequestRefusal? {
    checkRequestLine(method: method, target: target, version: version)
      ?? checkFields(headers)
      ?? checkHost(headers.values(for: "Host"), version: version)
      ?? checkFraming(
        lengths: headers.values(for: "Content-Length"), codings: headers.values(for: "Transfer-Encoding"),
        version: version)
  }

  private static func checkRequestLine(method: String, target: String, version: String) -> RequestRefusal? {
    guard isToken(method.utf8) else { return .bad(.requestLine, "The method is not a token.") }
    guard version.utf8.count == 8, version.hasPrefix("HTTP/1.") else {
      return .bad(.requestLine, "The version is not HTTP/1.0 or HTTP/1.1.")
    }
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
      return .bad(.target, "The request target holds a character that must be percent-encoded.")
    }
    if target == "*" {
      return method == "OPTIONS" ? nil : .bad(.target, "The target * belongs to OPTIONS only.")
    }
    guard let parts = RequestTarget(target) else {
      return .bad(.target, "The request target is neither a path nor an http URL, or has a malformed percent sequence.")
    }
    if let authority = parts.authority, !isHost(authority) {
      return .bad(.target, "The request target's host is malformed.")
    }
    return nil
  }

  private static func checkFields(_ headers: HTTPHeaders) -> RequestRefusal? {
    for field in headers.fields {
      guard isToken(field.name.utf8) else { return .bad(.header, "A header field's name is not a token.") }
      guard field.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
        return .bad(.header, "A header field's value holds a control character.")
      }
    }
    return nil
  }

  /// RFC 9112, section 3.2: a request without exactly one valid `Host` is answered 400; HTTP/1.0 may omit it.
  private static func checkHost(_ hosts: [String], version: String) -> RequestRefusal? {
    guard hosts.count <= 1 else { return .bad(.host, "Host is repeated.") }
    guard let host = hosts.first else {
      return version == "HTTP/1.0" ? nil : .bad(.host, "Host is missing.")
    }
    var value = HTTPHeaders()
    value.add("Host", host)
    value.trimValues()
    return isHost(value.fields[0].value) ? nil : .bad(.host, "Host is malformed.")
  }

  /// RFC 9112, section 6: where two readers could disagree about the body's end, nobody reads on.
  private static func checkFraming(lengths: [String], codings: [String], version: String) -> RequestRefusal? {
    guard lengths.count <= 1 else { return .bad(.framing, "Content-Length is repeated.") }
    guard codings.count <= 1 else { return .bad(.framing, "Transfer-Encoding is repeated.") }
    if let length = lengths.first {
      guard codings.isEmpty else { return .bad(.framing, "Content-Length and Transfer-Encoding exclude each other.") }
      // 18 digits always fit 64 bits.
      guard !length.isEmpty, length.utf8.count <= 18, length.utf8.allSatisfy(isDigit) else {
        return .bad(.framing, "Content-Length is not a number.")
      }
    }
    if let coding = codings.first {
      guard coding.equalsIgnoringCase("chunked") else {
        return .bad(.framing, "The only Transfer-Encoding here is chunked.")
      }
      guard version != "HTTP/1.0" else { return .bad(.framing, "HTTP/1.0 has no Transfer-Encoding.") }
    }
    return nil
  }

  /// A token as in RFC 9110, section 5.6.2.
  private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { isLetter($0) || isDigit($0) || tokenMarks.contains($0) }
  }

  /// `host [ ":" port ]` by its characters (RFC 3986, section 3.2.2); user information is not allowed in a `Host`.
  private static func isHost(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || hostMarks.contains($0) }
  }

  private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)
  private static let hostMarks = Set("-._~!$&'()*+,;=:[]%".utf8)
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
}
