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
    // Conditions and waits are for clients that have the state; a probe must have an answer now (RFC 9110 §13.2.1).
    if required != nil {
      let documents = events.documents
      var response = HTTPResponse(shared: isText ? documents.untaggedStatusText : documents.untaggedStatus)
      if !documents.snapshot.status.isReachable { response.status = 503 }
      return .now(response)
    }
    return try ConditionalRequest(context.routed).reply(waitingOn: events.statusWaiters) {
      let documents = events.documents
      return HTTPResponse(shared: isText ? documents.statusText : documents.status)
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
