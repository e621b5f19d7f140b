internal import HTTPRouting
internal import NetworkReachability

/// `GET /status` and `GET /interfaces`, with documents that are already encoded.
enum StateRoutes {
  static let status = NodeRoute(
    pattern: "/status", parameters: ["require", "wait"], mediaTypes: [.json, .text], isCacheable: true,
    summary: "this machine's reachability now"
  ) { (context) throws(Problem) in
    let required = context.query["require"]
    guard required == nil || required == "reachable" else {
      throw Problem(.badRequest, "require must be reachable, got \((required ?? "").debugDescription)")
    }
    let isText = context.media == .text
    let events = context.service.events
    return try ConditionalRequest(context.routed).reply(waitingOn: events.statusWaiters) {
      let documents = events.documents
      var response = HTTPResponse(shared: isText ? documents.statusText : documents.status)
      if required != nil, !documents.snapshot.status.isReachable { response.status = 503 }
      return response
    }
  }

  static let interfaces = NodeRoute(
    pattern: "/interfaces", parameters: ["wait"], mediaTypes: [.json], isCacheable: true,
    summary: "the kernel's interfaces with type, state and addresses"
  ) { (context) throws(Problem) in
    let events = context.service.events
    return try ConditionalRequest(context.routed).reply(waitingOn: events.interfaceWaiters) {
      HTTPResponse(shared: events.documents.interfaces)
    }
  }
}
