internal import MicroHTTP
internal import NetworkReachability

/// `GET /status` and `GET /interfaces`: documents that are encoded already.
enum StateRoutes {
  static let status = Route(
    pattern: "/status", parameters: ["require"], offers: [.json, .text],
    summary: "this machine's reachability now"
  ) { (exchange) throws(Problem) in
    let documents = exchange.service.feed.documents
    let shared = exchange.media == .text ? documents.statusText : documents.status
    if let required = exchange.query["require"] {
      guard required == "reachable" else {
        throw Problem(.badRequest, "require=\(required.debugDescription) is not known; require=reachable is.")
      }
      guard documents.snapshot.status.isReachable else {
        return .now(HTTPResponse(status: 503, headers: shared.headers, body: .bytes(shared.bytes)))
      }
    }
    return .now(conditional(exchange, shared, tag: documents.statusTag))
  }

  static let interfaces = Route(
    pattern: "/interfaces", offers: [.json], summary: "the kernel's interfaces with type, state and addresses"
  ) { (exchange) throws(Problem) in
    let documents = exchange.service.feed.documents
    return .now(conditional(exchange, documents.interfaces, tag: documents.interfacesTag))
  }

  /// The document, or 304 when the client has it (RFC 9110 §13.1.2: weak comparison, the list or `*`).
  private static func conditional(_ exchange: Exchange, _ shared: SharedBody, tag: String) -> HTTPResponse {
    guard let known = exchange.request.headers["If-None-Match"], matches(known, tag) else {
      return HTTPResponse(shared: shared)
    }
    var headers = shared.headers
    headers["Content-Type"] = nil
    return HTTPResponse(status: 304, headers: headers)
  }

  private static func matches(_ list: String, _ tag: String) -> Bool {
    func opaque(_ tag: some StringProtocol) -> Substring {
      let trimmed = tag.drop { $0 == " " || $0 == "\t" }
      let end = trimmed.lastIndex { $0 != " " && $0 != "\t" }.map { trimmed.index(after: $0) } ?? trimmed.endIndex
      let bare = Substring(trimmed[..<end])
      return bare.hasPrefix("W/") ? bare.dropFirst(2) : bare
    }
    return list.split(separator: ",").contains { opaque($0) == "*" || opaque($0) == opaque(tag) }
  }
}
