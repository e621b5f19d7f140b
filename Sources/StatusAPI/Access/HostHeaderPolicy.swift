internal import EmbeddedHTTPServer
internal import NetworkReachability

/// Which `Host` a request may carry: the defence against DNS rebinding, where a page on a foreign name that resolves to
/// 127.0.0.1 reads our answers with the user's browser.
///
/// IP literals and `localhost` always pass, for no foreign name can be one. Other names pass where they are allowed by
/// configuration, and, as long as nothing is configured, on listeners that are not loopback.
enum HostHeaderPolicy {
  static func enforce(_ request: HTTPRequest, allowed: [String]) throws(Problem) {
    // No page can have a browser connect there, and clients of such sockets put any name into it.
    if request.isUnixListener { return }
    // HTTP/1.0 has no Host; the guard has seen to HTTP/1.1's.
    guard let field = request.headers["Host"], !field.isEmpty else { return }
    // Most requests have an IPv4 address there, and are many.
    if let end = field.utf8.firstIndex(of: UInt8(ascii: ":")), IPAddress(String(field[..<end])) != nil { return }
    let host = name(in: field)
    if host == "localhost" || isLiteral(host) || allowed.contains(host) { return }
    guard request.isLoopbackListener || !allowed.isEmpty else { return }
    throw Problem(
      .hostNotAllowed,
      "The Host \(host.debugDescription) is not one of ours; ask by address, or add it to allowedHosts.")
  }

  /// The host without its port, in lower case and without the dot of the root.
  private static func name(in field: String) -> String {
    let lower = field.lowercased()
    if lower.hasPrefix("[") {
      let literal = lower.prefix { $0 != "]" } + "]"
      let rest = lower.dropFirst(literal.count)
      // What follows the bracket can only be a port; anything else is a name that pretends.
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
