extension CheckTarget: CustomStringConvertible {
  /// The longest target in bytes: it fits into a request line that the service accepts.
  static let longestText = 2_048

  /// Parses `scheme://host[:port][/path][?query]`.
  ///
  /// IPv6 addresses are in brackets if a port follows, with their zone inside (`tcp://[fe80::1%eth0]:22`, or `%25eth0` as in
  /// RFC 6874).
  ///
  /// - Throws: a ``TargetError`` that says what is wrong and what would be right: for missing and unknown schemes,
  ///   missing ports, user names and passwords, fragments, and what ``ReachabilityTarget/init(host:source:interface:)`` rejects.
  public init(_ text: String) throws(TargetError) { try self.init(text, longest: Self.longestText) }

  /// Parses a target of at most `longest` bytes: that of a redirect may be longer than one that a client sends.
  package init(_ text: String, longest: Int) throws(TargetError) {
    guard text.utf8.count <= longest else {
      throw TargetError("the target has \(text.utf8.count) bytes", hint: "a target has at most \(longest)")
    }
    if text.isEmpty { throw TargetError("the target is empty", hint: "write something like tcp://db:5432") }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw TargetError(
        "\(Redaction.redacted(text).debugDescription) has a space, a control character or a letter beyond ASCII",
        hint: "write international names in their xn-- form and encode the rest as %XX")
    }
    let (scheme, rest) = try Self.scheme(of: text)
    if rest.contains("#") {
      throw TargetError(
        "\(Redaction.redacted(text).debugDescription) has a fragment", hint: "leave out # and what follows")
    }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    let userInformation = TargetError(
      "\(scheme.rawValue)://… has a user name or password", hint: "leave it out; give headers in a module")
    if authority.contains("@") { throw userInformation }
    let place: (host: String, port: UInt16?)
    do throws(TargetError) {
      place = try Self.hostAndPort(authority, scheme)
    } catch {
      // This is a password with a slash; the error would quote the part before it.
      throw rest.contains("@") ? userInformation : error
    }
    try self.init(scheme, host: ReachabilityTarget(host: place.host), port: place.port, tail: rest[end...])
  }

  private init(_ scheme: Scheme, host: ReachabilityTarget, port: UInt16?, tail: Substring) throws(TargetError) {
    self.init(scheme, host: host, port: port)
    try Self.checkRemote(host, scheme)
    switch scheme.descriptor.suffix {
    case .path:
      pathAndQuery = tail.first == "/" ? String(tail) : "/" + tail
    case .question:
      question = try DNSQuestion(pathAndQuery: tail)
    case .none:
      guard tail.isEmpty || tail == "/" else {
        throw TargetError(
          "\(scheme.rawValue):// has no path", hint: "leave out \(Redaction.redacted(String(tail)).debugDescription)")
      }
    }
  }

  private static func scheme(of text: String) throws(TargetError) -> (Scheme, Substring) {
    let hint = "write one of " + Scheme.allCases.map { "\($0.rawValue)://" }.joined(separator: ", ")
    // The text is not quoted: without a scheme it may contain a password that is not recognizable.
    guard let colon = text.firstRange(of: "://") else { throw TargetError("the target has no scheme", hint: hint) }
    let name = text[..<colon.lowerBound].lowercased()
    guard let scheme = Scheme(rawValue: name) else {
      throw TargetError("unknown scheme \(Redaction.redacted(name).debugDescription)", hint: hint)
    }
    return (scheme, text[colon.upperBound...])
  }

  private static func hostAndPort(
    _ authority: Substring, _ scheme: Scheme
  ) throws(TargetError) -> (host: String, port: UInt16?) {
    var host = authority
    var digits: Substring?
    if authority.first == "[" {
      guard let bracket = authority.firstIndex(of: "]") else {
        throw TargetError(
          "\(String(authority).debugDescription) has no closing bracket", hint: "write [2001:db8::1]:port")
      }
      host = authority[..<bracket]
      let rest = authority[authority.index(after: bracket)...]
      guard rest.isEmpty || rest.first == ":" else {
        throw TargetError("\(String(rest).debugDescription) follows the bracket", hint: "only :port may follow")
      }
      digits = rest.isEmpty ? nil : rest.dropFirst()
    } else if authority.count(where: { $0 == ":" }) == 1, let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      digits = authority[authority.index(after: colon)...]
    } else if authority.contains(":"), scheme.hasPort {
      // "::1:80" can be an address, or an address and a port; two programs could read two different hosts.
      throw TargetError(
        "\(String(authority).debugDescription) needs brackets", hint: "write \(scheme.rawValue)://[address]:port")
    }
    return (decodedZone(host), try port(digits, scheme, host: host))
  }

  /// A host whose zone is written as in a URL: `%25` in place of `%` (RFC 6874 §2), in which `%25` begins no interface name.
  private static func decodedZone(_ host: Substring) -> String {
    guard host.first == "[", let separator = host.firstRange(of: "%25"), host[..<separator.lowerBound].contains(":"),
      separator.upperBound < host.endIndex
    else { return host.first == "[" ? "\(host)]" : String(host) }
    return "\(host[..<separator.lowerBound])%\(host[separator.upperBound...])]"
  }

  private static func port(
    _ digits: Substring?, _ scheme: Scheme, host: Substring
  ) throws(TargetError) -> UInt16? {
    guard scheme.hasPort else {
      guard let digits else { return nil }
      throw TargetError("\(scheme.rawValue):// has no ports", hint: "leave out :\(digits)")
    }
    guard let digits else {
      guard let port = scheme.defaultPort else {
        throw TargetError("the port is missing", hint: "write \(scheme.rawValue)://\(host):port")
      }
      return port
    }
    guard digits.isDecimal, let port = UInt16(digits), port > 0 else {
      throw TargetError("\(String(digits).debugDescription) is not a port", hint: "a port is a number from 1 to 65535")
    }
    return port
  }

  private static func checkRemote(_ host: ReachabilityTarget, _ scheme: Scheme) throws(TargetError) {
    switch host.remote {
    case .name: return
    case .address(let address):
      guard scheme != .route, address.isMulticast else { return }
      throw TargetError("\(address) is a multicast address", hint: "check one host")
    case .defaultPath, .localLink:
      guard scheme != .route else { return }
      throw TargetError("\(host.host) is not a host that can be checked", hint: "write route://\(host.host)")
    }
  }

  /// The canonical text: the scheme in lower case, the port only if it is not the default one.
  public var description: String {
    let name = host.host
    let isBracketed = name.utf8.contains(UInt8(ascii: ":")) && scheme.hasPort
    // Without interpolations, because every HTTP check executes this code.
    var text = scheme.rawValue
    text += isBracketed ? "://[" : "://"
    text += name
    if let interface = host.interface { text += "%" + interface }
    if isBracketed { text += "]" }
    if let port, port != scheme.defaultPort { text += ":" + String(port) }
    return text + (question?.pathAndQuery ?? pathAndQuery)
  }
}

extension DNSQuestion {
  /// Parses `/name?type=AAAA`.
  init(pathAndQuery text: Substring) throws(TargetError) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first ?? ""
    guard path.first == "/", path.count > 1 else {
      throw TargetError("the name to ask for is missing", hint: "write dns://server/name?type=A")
    }
    self.init(name: try Self.name(path.dropFirst()), type: parts.count > 1 ? try Self.type(parts[1]) : .a)
  }

  /// Parses a name and removes its trailing dot.
  package static func name(_ text: Substring) throws(TargetError) -> String {
    let name = text.last == "." ? text.dropLast() : text
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.isEmpty || name.utf8.count <= ReachabilityTarget.longestName,
      name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      !name.contains(where: { "/?".contains($0) }),
      name.isEmpty || labels.allSatisfy({ (1...ReachabilityTarget.longestLabel).contains($0.utf8.count) })
    else {
      throw TargetError(
        "\(String(name).debugDescription) is not a DNS name",
        hint:
          "a name has at most \(ReachabilityTarget.longestName) bytes in labels of 1 to \(ReachabilityTarget.longestLabel)"
      )
    }
    return String(name)
  }

  private static func type(_ query: Substring) throws(TargetError) -> RecordType {
    let known = RecordType.allCases.map(\.name).joined(separator: ", ")
    let prefix = "type="
    guard query.hasPrefix(prefix) else {
      throw TargetError(
        "\(Redaction.redacted("?" + query).debugDescription) is not a query of dns://",
        hint: "write ?type= and one of \(known)")
    }
    let text = query.dropFirst(prefix.count)
    guard let type = RecordType(String(text)) else {
      throw TargetError("unknown record type", hint: "write one of \(known)")
    }
    return type
  }

  /// The question as part of a target: `/name?type=AAAA`.
  package var pathAndQuery: String { "/\(name.isEmpty ? "." : name)" + (type == .a ? "" : "?type=\(type.name)") }
}
