/// One entry of a module's `hosts`: the servers that may receive what the module sends.
///
/// The form is `[scheme://]host[:port]`, where `host` is a name, `.suffix` for all names below one, an address, or an
/// address block. The default scheme is `https`, the default port that of the scheme. Like a source expression of a
/// Content-Security-Policy (CSP level 3 §2.3.1), it never matches more than it states.
public struct HostPattern: Hashable, Sendable {
  /// The hosts of an entry.
  public enum Host: Hashable, Sendable {
    /// This name, in lower case and without a trailing dot.
    case name(String)
    /// All names that end with this suffix, which begins with a dot; not the name after the dot itself.
    case suffix(String)
    /// All addresses of a block, whether the target is a name or an address.
    case block(IPPrefix)
  }

  /// The scheme of the target.
  public var scheme: CheckTarget.Scheme
  /// The hosts.
  public var host: Host
  /// The port of the target.
  public var port: UInt16

  /// Creates an entry from its parts.
  package init(scheme: CheckTarget.Scheme, host: Host, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Parses an entry.
  ///
  /// - Throws: a ``TargetError`` that says what is wrong and what would be right: for schemes without ports, missing
  ///   ports, user names, paths, wildcards, zones, and names that no target can have.
  public init(_ text: String) throws(TargetError) {
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw TargetError(
        "\(text.debugDescription) has a space, a control character or a letter beyond ASCII",
        hint: "write international names in their xn-- form")
    }
    let (scheme, rest) = try Self.scheme(of: text)
    let (host, digits) = try Self.split(rest, text)
    self.scheme = scheme
    self.host = try Self.host(host)
    port = try Self.port(digits, scheme, text)
  }

  /// Whether scheme and port of a target equal those of the entry.
  func hasEndpoint(of target: CheckTarget) -> Bool { scheme == target.scheme && port == target.port }

  private static func scheme(of text: String) throws(TargetError) -> (CheckTarget.Scheme, Substring) {
    guard let separator = text.firstRange(of: "://") else { return (.https, text[...]) }
    let name = text[..<separator.lowerBound].lowercased()
    guard let scheme = CheckTarget.Scheme(rawValue: name), scheme.hasPort else {
      let known = CheckTarget.Scheme.allCases.filter(\.hasPort).map { "\($0.rawValue)://" }.joined(separator: ", ")
      throw TargetError("\(name.debugDescription) is not a scheme of hosts", hint: "write one of \(known)")
    }
    return (scheme, text[separator.upperBound...])
  }

  /// Separates the port; an IPv6 address with a port must be in brackets.
  private static func split(_ rest: Substring, _ text: String) throws(TargetError) -> (Substring, Substring?) {
    if rest.first == "[" {
      let parts = rest.dropFirst().split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].contains(":"), parts[1].isEmpty || parts[1].first == ":" else {
        throw TargetError("\(text.debugDescription) has misplaced brackets", hint: "write [2001:db8::1]:443")
      }
      return (parts[0], parts[1].isEmpty ? nil : parts[1].dropFirst())
    }
    guard rest.count(where: { $0 == ":" }) == 1, let colon = rest.firstIndex(of: ":") else { return (rest, nil) }
    return (rest[..<colon], rest[rest.index(after: colon)...])
  }

  private static func port(
    _ digits: Substring?, _ scheme: CheckTarget.Scheme, _ text: String
  ) throws(TargetError) -> UInt16 {
    guard let digits else {
      guard let port = scheme.defaultPort else {
        throw TargetError("\(text.debugDescription) has no port", hint: "write \(scheme.rawValue)://host:port")
      }
      return port
    }
    guard digits.isDecimal, let port = UInt16(digits), port > 0 else {
      throw TargetError("\(String(digits).debugDescription) is not a port", hint: "a port is a number from 1 to 65535")
    }
    return port
  }

  private static func host(_ text: Substring) throws(TargetError) -> Host {
    let form = "write a name, .suffix, an address or a block such as 10.0.0.0/8"
    let quoted = String(text).debugDescription
    if text.contains("*") { throw TargetError("\(quoted) has a wildcard", hint: "write .suffix") }
    if let block = IPPrefix(blockOrAddress: text) { return .block(block) }
    if text.contains("/") { throw TargetError("\(quoted) is not an address block", hint: form) }
    let isSuffix = text.first == "."
    let target = try ReachabilityTarget(host: String(isSuffix ? text.dropFirst() : text))
    guard case .name = target.remote, let name = target.normalizedName else {
      throw TargetError("\(quoted) is not the name of a host", hint: form)
    }
    // In a list, the keyword for all hosts would be read as a host name.
    guard name != "any" else { throw TargetError("any is not the name of a host", hint: "write hosts: any") }
    return isSuffix ? .suffix(".\(name)") : .name(name)
  }
}

extension ReachabilityTarget {
  /// The name in lower case and without a trailing dot, so that equal names (RFC 4343) compare equal; nil for an
  /// address.
  var normalizedName: String? {
    guard case .name(let name) = remote else { return nil }
    return (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
  }
}

extension IPPrefix {
  /// Parses `10.0.0.0/8`, or an address as a block of this one address; nil for anything else.
  ///
  /// IPv4-mapped IPv6 addresses become IPv4 addresses, because sockets treat them as such.
  init?(blockOrAddress text: Substring) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
    guard parts.count == 2 else {
      self.init(address.unmapped, length: address.unmapped.family.bitCount)
      return
    }
    guard parts[1].isDecimal, let length = UInt8(parts[1]),
      length <= address.family.bitCount, address.unmapped == address
    else { return nil }
    self = IPPrefix(address, length: length).block
  }
}
