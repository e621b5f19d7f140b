extension ReachabilityTarget {
  /// The longest host name in bytes (RFC 1035 §2.3.4: 255 octets on the wire, 253 as text).
  static let longestName = 253
  /// The longest label of a host name in bytes (RFC 1035 §2.3.4).
  static let longestLabel = 63
  /// `ALTIFNAMSIZ` less the terminating zero: the longest alternative name of an interface in bytes.
  static let longestInterfaceName = 127

  /// Parses a host: `default`, `local-link`, an address, one of these with a zone (`fe80::1%eth0`, `default%eth0`), an
  /// address in brackets, or a name.
  ///
  /// `0.0.0.0` and `::` are ``default``, `169.254.0.0` is ``localLink``, as in SCNetworkReachability.
  ///
  /// - Parameters:
  ///   - text: the host.
  ///   - source: the source address of packets, without zone.
  ///   - interface: the interface that packets must leave through; if the host has a zone, they must be equal.
  /// - Throws: a ``TargetError`` for URLs, ports, empty and over-long names, and addresses that need a zone.
  public init(host text: String, source: String? = nil, interface: String? = nil) throws(TargetError) {
    let sourceAddress = try source.map { (text) throws(TargetError) in try Self.sourceAddress(text) }
    if let interface { try Self.checkInterfaceName(interface) }
    let (remote, zone) = try Self.remote(text)
    if let zone, let interface, zone != interface {
      throw TargetError("the zone %\(zone) and the interface \(interface) differ", hint: "give one of them")
    }
    let scope = interface ?? zone
    if case .address(let address) = remote {
      guard !(address.family == .ipv6 && address.isLinkLocal || address.isLinkLocalMulticast) || scope != nil else {
        throw TargetError("\(address) is link-local and exists on every link", hint: "name the link: \(address)%eth0")
      }
      if let sourceAddress, sourceAddress.unmapped.family != address.unmapped.family {
        throw TargetError("\(sourceAddress) cannot send to \(address)", hint: "both must be IPv4 or both IPv6")
      }
    }
    self.init(remote, source: sourceAddress?.unmapped, interface: scope)
  }

  private static func sourceAddress(_ text: String) throws(TargetError) -> IPAddress {
    guard let address = IPAddress(text) else {
      throw TargetError(
        "\(text.debugDescription) is not an IP address", hint: "give an IPv4 or IPv6 address of this machine")
    }
    return address
  }

  private static func checkInterfaceName(_ name: String) throws(TargetError) {
    // The kernel's rule (dev_valid_name): no slash, no white space, not too long, neither . nor ..
    let valid =
      (1...longestInterfaceName).contains(name.utf8.count) && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x2f && $0 != 0x3a && $0 != 0x7f }
    guard valid else {
      throw TargetError(
        "\(name.debugDescription) is not an interface name",
        hint: "at most \(longestInterfaceName) bytes without spaces, slashes and colons")
    }
  }

  private static let specials: [String: Remote] = ["default": .defaultPath, "local-link": .localLink]

  private static func remote(_ text: String) throws(TargetError) -> (Remote, zone: String?) {
    let scoped = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    if let remote = specials[scoped.first.map(String.init) ?? ""] {
      let zone = scoped.count > 1 ? String(scoped[1]) : nil
      if let zone { try checkInterfaceName(zone) }
      return (remote, zone)
    }
    switch text {
    case "": throw TargetError("the host is empty", hint: "give a name, an address, default or local-link")
    default: break
    }
    if text.contains("://") {
      throw TargetError(
        "\(Redaction.redacted(text).debugDescription) is a URL", hint: "give the host alone, without scheme and path")
    }
    var literal = text[...]
    if literal.first == "[" {
      guard literal.last == "]", literal.contains(":") else {
        throw TargetError(
          "\(Redaction.redacted(text).debugDescription) has an unbalanced bracket or a port",
          hint: "give the address alone")
      }
      literal = literal.dropFirst().dropLast()
    }
    let parts = literal.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = parts.first.flatMap({ IPAddress($0) }) {
      let zone = parts.count > 1 ? String(parts[1]) : nil
      if let zone { try checkInterfaceName(zone) }
      // IPv4-mapped forms are evaluated as IPv4, so the special addresses are special in this form too.
      if address.unmapped.isUnspecified { return (.defaultPath, zone) }
      if address.unmapped == IPAddress(ipv4: 0xa9fe_0000) { return (.localLink, zone) }
      return (.address(address), zone)
    }
    return (.name(try checkedName(text)), nil)
  }

  private static func checkedName(_ text: String) throws(TargetError) -> String {
    let quoted = String(Redaction.redacted(text).prefix(longestName + 3)).debugDescription
    if text.contains("/") { throw TargetError("\(quoted) has a path", hint: "give the host alone") }
    if text.contains(":") {
      throw TargetError(
        "\(quoted) has a port, or is a broken IPv6 address", hint: "give the host alone, without a port")
    }
    let name = text.hasSuffix(".") ? text.dropLast() : text[...]
    guard (1...longestName).contains(name.utf8.count) else {
      throw TargetError("\(quoted) has \(name.utf8.count) bytes", hint: "a host name has 1 to \(longestName)")
    }
    // Letters, digits and hyphens (RFC 1123 §2.1), and the underscore of service names (RFC 8552). Other characters
    // come from a URL or a typing error; such a name would stay optimistically reachable forever.
    let isInName = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
      default: false
      }
    }
    guard name.utf8.allSatisfy(isInName) else {
      throw TargetError(
        "\(quoted) has characters that are not allowed in a host name",
        hint: "write international names in their xn-- form")
    }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.allSatisfy({ (1...longestLabel).contains($0.utf8.count) }) else {
      throw TargetError("\(quoted) has an empty or over-long label", hint: "each part has 1 to \(longestLabel) bytes")
    }
    // A name's last label is not numeric (RFC 1123 §2.1): "1.2.3" and "256.1.1.1" are mistyped addresses. It is not
    // hexadecimal either: inet_aton, and with it getaddrinfo, reads "0x7f000001" as 127.0.0.1.
    guard let last = labels.last, !isNumber(last) else {
      throw TargetError(
        "\(quoted) is neither an address nor a name", hint: "an IPv4 address has four numbers from 0 to 255")
    }
    return text
  }

  private static func isNumber(_ label: Substring) -> Bool {
    if label.isDecimal { return true }
    return label.lowercased().hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
  }
}

extension ReachabilityTarget: CustomStringConvertible {
  /// The host as ``init(host:source:interface:)`` parses it, without source and interface.
  public var host: String {
    switch remote {
    case .defaultPath: "default"
    case .localLink: "local-link"
    case .address(let address): address.description
    case .name(let name): name
    }
  }

  /// The host with its zone; ``init(host:source:interface:)`` parses it to the same target, except for the source.
  public var scopedHost: String { host + (interface.map { "%\($0)" } ?? "") }

  /// The host with its zone and source, for logs.
  public var description: String { scopedHost + (source.map { " from \($0)" } ?? "") }
}
