internal import ReachabilityModel

/// Which `Host` a request may carry: the defence against DNS rebinding, where a page on a foreign name that resolves to
/// 127.0.0.1 reads the responses with the user's browser.
///
/// IP literals and `localhost` always pass, because no foreign name can equal them. Other names pass if the
/// configuration allows them, and, if it allows none, on listeners that are not loopback.
enum HostHeaderPolicy {
  static func enforce(_ request: HTTPRequest, allowed: [String]) throws(Problem) {
    // A page cannot make a browser connect to a Unix-domain socket, and clients of such sockets send any name.
    if request.isUnixListener { return }
    // HTTP/1.0 has no Host; request validation requires it for HTTP/1.1.
    guard let field = request.headers["Host"], !field.isEmpty else { return }
    // The fast path for an IPv4 address, which most requests carry.
    if let end = field.utf8.firstIndex(of: UInt8(ascii: ":")), IPAddress(String(field[..<end])) != nil { return }
    let host = name(in: field)
    if host == "localhost" || isLiteral(host) || allowed.contains(host) { return }
    guard request.isLoopbackListener || !allowed.isEmpty else { return }
    throw Problem(
      .hostNotAllowed,
      "the Host header \(host.debugDescription) is not allowed; use an IP address, or add the name to allowedHosts")
  }

  /// Returns the host without its port and the root's trailing dot, in lower case.
  private static func name(in field: String) -> String {
    let lower = field.lowercased()
    if lower.hasPrefix("[") {
      let literal = lower.prefix { $0 != "]" } + "]"
      let rest = lower.dropFirst(literal.count)
      // Only a port may follow the bracket; anything else is treated as a name.
      return rest.isEmpty || rest.hasPrefix(":") ? String(literal) : lower
    }
    let host = lower.prefix { $0 != ":" }
    return String(host.hasSuffix(".") ? host.dropLast() : host)
  }

  private static func isLiteral(_ host: String) -> Bool {
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    return IPAddress(isBracketed ? String(host.dropFirst().dropLast()) : host) != nil
  }
}
