/// The rules that a request head must satisfy before any other code processes it.
///
/// libmicrohttpd 0.9.75 accepts a repeated `Content-Length`, serves a request smuggled behind `Content-Length` plus
/// `Transfer-Encoding`, and passes malformed names on. Values are checked untrimmed, as libmicrohttpd itself interprets
/// them.
enum RequestValidator {
  /// Returns what is wrong with a request head; nil if it is valid.
  static func check(method: String, target: String, version: String, headers: HTTPHeaders) -> RequestRefusal? {
    check(method: method, target: target, parts: RequestTarget(target), version: version, headers: headers)
  }

  /// Checks a request head whose target was parsed already.
  static func check(
    method: String, target: String, parts: RequestTarget?, version: String, headers: HTTPHeaders
  ) -> RequestRefusal? {
    checkRequestLine(method: method, target: target, parts: parts, version: version)
      ?? checkFields(headers)
      ?? checkMeaning(headers, version: version)
  }

  /// Checks the fields of a head whose request line is not known.
  static func check(fields: HTTPHeaders) -> RequestRefusal? {
    checkFields(fields) ?? checkMeaning(fields, version: "HTTP/1.1")
  }

  private static func checkRequestLine(
    method: String, target: String, parts: RequestTarget?, version: String
  ) -> RequestRefusal? {
    guard RequestCharacterSet.isToken(method) else { return .bad(.requestLine, "the method is not a token") }
    guard version.utf8.count == 8, version.hasPrefix("HTTP/1.") else {
      return .bad(.requestLine, "the version must be HTTP/1.0 or HTTP/1.1")
    }
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
      return .bad(.target, "the request target contains a character that must be percent-encoded")
    }
    if target == "*" {
      return method == "OPTIONS" ? nil : .bad(.target, "the request target * requires the method OPTIONS")
    }
    guard let parts else {
      return .bad(.target, "the request target must be a path or an http URL with valid percent encoding")
    }
    if let authority = parts.authority, !isHost(authority.utf8) {
      return .bad(.target, "the host of the request target is malformed")
    }
    return nil
  }

  private static func checkFields(_ headers: HTTPHeaders) -> RequestRefusal? {
    for field in headers.fields {
      guard RequestCharacterSet.isToken(field.name) else {
        return .bad(.header, "the name of a header field is not a token")
      }
      guard field.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
        return .bad(.header, "the value of a header field contains a control character")
      }
    }
    return nil
  }

  /// Checks the three fields that decide a request's destination and its end, in one pass for the hot path.
  private static func checkMeaning(_ headers: HTTPHeaders, version: String) -> RequestRefusal? {
    var host: String?
    var length: String?
    var hasCoding = false
    for field in headers.fields {
      if field.name.equalsIgnoringCase("Host") {
        guard host == nil else { return .bad(.host, "Host is given more than once") }
        host = field.value
      } else if field.name.equalsIgnoringCase("Content-Length") {
        guard length == nil else { return .bad(.framing, "Content-Length is given more than once") }
        length = field.value
      } else if field.name.equalsIgnoringCase("Transfer-Encoding") {
        hasCoding = true
      }
    }
    return checkHost(host, version: version) ?? checkFraming(length: length, hasCoding: hasCoding, version: version)
  }

  /// RFC 9112, section 3.2: a request without exactly one valid `Host` is answered 400; HTTP/1.0 may omit it.
  private static func checkHost(_ host: String?, version: String) -> RequestRefusal? {
    guard let host else { return version == "HTTP/1.0" ? nil : .bad(.host, "Host is missing") }
    return isHost(host.utf8.withoutBlanks) ? nil : .bad(.host, "Host is malformed")
  }

  /// RFC 9112, section 6: if two readers could disagree about the body's end, the rest is not read.
  ///
  /// A body must have a length (RFC 9110, section 15.5.12): libmicrohttpd 0.9.75 accepts malformed chunks, and polls
  /// without a pause while a chunk's size or a trailer field fills its buffer (ADR 14).
  private static func checkFraming(length: String?, hasCoding: Bool, version: String) -> RequestRefusal? {
    guard hasCoding else { return length.flatMap(checkLength) }
    guard length == nil else { return .bad(.framing, "Content-Length and Transfer-Encoding are mutually exclusive") }
    return version == "HTTP/1.0" ? .bad(.framing, "HTTP/1.0 has no Transfer-Encoding") : .lengthRequired
  }

  /// RFC 9110, section 8.6: the value consists of digits only.
  ///
  /// A number that does not fit into 64 bits is too large, not malformed.
  static func checkLength(_ length: String) -> RequestRefusal? {
    guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return .bad(.framing, "Content-Length must be a number")
    }
    // 18 digits always fit 64 bits.
    return length.utf8.count <= 18 ? nil : .lengthTooLarge
  }

  /// Whether the bytes are allowed in `host [ ":" port ]` (RFC 3986, section 3.2.2); a `Host` has no user information.
  private static func isHost(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(RequestCharacterSet.host.contains)
  }
}

/// A set of ASCII characters with one bit each, because hashing every byte of every request would be slow.
struct RequestCharacterSet: Sendable {
  private static let alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  private static let token = RequestCharacterSet(alphanumerics + "!#$%&'*+-.^_`|~")
  static let host = RequestCharacterSet(alphanumerics + "-._~!$&'()*+,;=:[]%")

  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(_ members: String) {
    for byte in members.utf8 where byte < 128 {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
  }

  /// Whether the text is a token (RFC 9110, section 5.6.2).
  static func isToken(_ text: String) -> Bool { !text.utf8.isEmpty && text.utf8.allSatisfy(token.contains) }

  func contains(_ byte: UInt8) -> Bool {
    byte < 128 && (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
  }
}
