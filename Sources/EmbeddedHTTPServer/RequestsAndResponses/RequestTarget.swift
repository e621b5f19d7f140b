internal import TextSyntax

/// A parsed request target (RFC 9112, section 3.2).
struct RequestTarget: Equatable {
  var authority: String?
  /// The path, still percent-encoded.
  var path: String
  var query: [QueryItem]

  /// Parses a target; nil if its form is not supported or a percent sequence is malformed.
  init?(_ target: String) {
    if target == "*" {
      path = "*"
      query = []
      return
    }
    var rest = target.utf8[...]
    if rest.first != UInt8(ascii: "/") {
      guard let absolute = Self.splitAbsolute(rest) else { return nil }
      authority = absolute.authority
      rest = absolute.rest
    }
    let question = rest.firstIndex(of: UInt8(ascii: "?"))
    let rawPath = rest[..<(question ?? rest.endIndex)]
    guard RequestPercentCoding.decode(rawPath, plusIsSpace: false) != nil else { return nil }
    path = rawPath.isEmpty ? "/" : String(Substring(rawPath))
    guard let question else {
      query = []
      return
    }
    guard let items = Self.parseQuery(rest[rest.index(after: question)...]) else { return nil }
    query = items
  }

  private static func splitAbsolute(_ bytes: Substring.UTF8View) -> (authority: String, rest: Substring.UTF8View)? {
    let scheme = "http://".utf8
    guard String(Substring(bytes.prefix(scheme.count))).equalsIgnoringCase("http://") else { return nil }
    let afterScheme = bytes.dropFirst(scheme.count)
    let end = afterScheme.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? afterScheme.endIndex
    return (String(Substring(afterScheme[..<end])), afterScheme[end...])
  }

  private static func parseQuery(_ bytes: Substring.UTF8View) -> [QueryItem]? {
    var items: [QueryItem] = []
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      let equals = part.firstIndex(of: UInt8(ascii: "="))
      let rawValue = equals.map { part[part.index(after: $0)...] } ?? part[part.endIndex...]
      guard
        let name = RequestPercentCoding.decode(part[..<(equals ?? part.endIndex)], plusIsSpace: true),
        let value = RequestPercentCoding.decode(rawValue, plusIsSpace: true)
      else { return nil }
      items.append(QueryItem(name: name, value: value))
    }
    return items
  }
}

/// Percent-encoding (RFC 3986, section 2.1), strict.
enum RequestPercentCoding {
  /// Returns nil for a malformed sequence, a NUL, or bytes that are not UTF-8.
  static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
    // The common case: nothing to decode, so only the text itself is checked.
    if !bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 || ($0 == UInt8(ascii: "+") && plusIsSpace) }) {
      return String(validating: bytes, as: UTF8.self)
    }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
        decoded.append(high << 4 | low)
      } else {
        decoded.append(byte == UInt8(ascii: "+") && plusIsSpace ? 0x20 : byte)
      }
    }
    guard !decoded.contains(0) else { return nil }
    return String(validating: decoded, as: UTF8.self)
  }
}
