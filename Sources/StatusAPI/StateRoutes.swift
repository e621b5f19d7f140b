internal import MicroHTTP
internal import NetworkReachability

/// `GET /status` and `GET /interfaces`: documents that are encoded already.
enum StateRoutes {
  static let status = Route(
    pattern: "/status", parameters: ["require", "wait"], offers: [.json, .text], stands: true,
    summary: "this machine's reachability now"
  ) { (exchange) throws(Problem) in
    let required = exchange.query["require"]
    guard required == nil || required == "reachable" else {
      throw Problem(.badRequest, "require=\((required ?? "").debugDescription) is not known; require=reachable is.")
    }
    let isText = exchange.media == .text
    let feed = exchange.service.feed
    return try ConditionalReply(exchange).reply(in: feed.statusRoom) {
      let documents = feed.documents
      var response = HTTPResponse(shared: isText ? documents.statusText : documents.status)
      if required != nil, !documents.snapshot.status.isReachable { response.status = 503 }
      return response
    }
  }

  static let interfaces = Route(
    pattern: "/interfaces", parameters: ["wait"], offers: [.json], stands: true,
    summary: "the kernel's interfaces with type, state and addresses"
  ) { (exchange) throws(Problem) in
    let feed = exchange.service.feed
    return try ConditionalReply(exchange).reply(in: feed.interfacesRoom) {
      HTTPResponse(shared: feed.documents.interfaces)
    }
  }
}
