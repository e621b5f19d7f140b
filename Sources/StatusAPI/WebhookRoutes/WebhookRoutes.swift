internal import HTTPRouting
internal import JSONFormat
internal import Webhooks

/// `/webhooks`: the receivers of events, their states and their delivery logs.
///
/// No representation contains a secret, nor a receiver's path, which may be one.
enum WebhookRoutes {
  static let all = [list, get, deliveries, test, pause, resume, redeliver]

  /// The default and the maximum number of entries of a log's page.
  static let defaultLimit = 100
  static let limitMaximum = 1_000

  static let list = NodeRoute(pattern: "/webhooks", mediaTypes: [.json], summary: "the receivers of events") {
    (context) throws(Problem) in
    let reports = context.service.webhooks?.reports ?? []
    return .now(answer(.members(["webhooks": .array(reports.map(WebhookRepresentation.document))])))
  }

  static let get = NodeRoute(pattern: "/webhooks/{id}", mediaTypes: [.json], summary: "one receiver with its state") {
    (context) throws(Problem) in
    .now(answer(WebhookRepresentation.document(try report(context))))
  }

  static let deliveries = NodeRoute(
    pattern: "/webhooks/{id}/deliveries", parameters: ["limit", "cursor"], mediaTypes: [.json],
    summary: "the delivery log of a receiver, the newest entries first"
  ) { (context) throws(Problem) in
    let id = try report(context).definition.id
    let limit = try number(context.query["limit"], "limit", 1...Int64(limitMaximum)) ?? Int64(defaultLimit)
    let before = try number(context.query["cursor"], "cursor", 1...Int64.max)
    guard let webhooks = context.service.webhooks else { throw Problem(missing: id) }
    return .later { promise in
      webhooks.log(of: id, before: before, limit: Int(limit) + 1) { entries in
        guard let entries else { return promise.fulfil(context.answer(.logUnavailable)) }
        let page = entries.prefix(Int(limit))
        let next = entries.count > Int(limit) ? page.last.map { "\($0.number)" } : nil
        promise.fulfil(
          answer(
            .members([
              "deliveries": .array(page.map { WebhookRepresentation.entry($0.record) }), "next": .text(next),
            ])))
      }
    }
  }

  static let test = NodeRoute(
    method: "POST", pattern: "/webhooks/{id}/test", scope: .admin, mediaTypes: [.json],
    summary: "send a test message to a receiver", handle: { (context) throws(Problem) in try perform(.test, context) })

  static let pause = NodeRoute(
    method: "POST", pattern: "/webhooks/{id}/pause", scope: .admin, mediaTypes: [.json],
    summary: "send nothing to a receiver", handle: { (context) throws(Problem) in try perform(.pause, context) })

  static let resume = NodeRoute(
    method: "POST", pattern: "/webhooks/{id}/resume", scope: .admin, mediaTypes: [.json],
    summary: "send to a paused receiver again", handle: { (context) throws(Problem) in try perform(.resume, context) })

  static let redeliver = NodeRoute(
    method: "POST", pattern: "/webhooks/{id}/deliveries/{event}/redeliver", scope: .admin, mediaTypes: [.json],
    summary: "send an event to a receiver again"
  ) { (context) throws(Problem) in
    try perform(.redeliver(event: context.path["event"] ?? ""), context)
  }

  // MARK: - Parameters and responses

  private static func perform(_ command: WebhookCommand, _ context: RequestContext) throws(Problem) -> HTTPReply {
    let id = try report(context).definition.id
    guard let webhooks = context.service.webhooks else { throw Problem(missing: id) }
    return .later { promise in
      webhooks.perform(command, on: id) { result in
        switch result {
        case .done(let report): promise.fulfil(answer(WebhookRepresentation.document(report)))
        case .attempted(let record): promise.fulfil(answer(WebhookRepresentation.entry(record)))
        case .noRoute:
          promise.fulfil(context.answer(Problem(.conflict, "no route to the receiver; nothing was sent")))
        case .busy:
          promise.fulfil(context.answer(Problem(.overloaded, "too many requests wait for this receiver; retry later")))
        case .missingEvent:
          promise.fulfil(
            context.answer(
              Problem(.notFound, "the event is not stored; expected an id such as 6f1c2a90-12, as in /events")))
        case .missing: promise.fulfil(context.answer(Problem(missing: id)))
        }
      }
    }
  }

  private static func report(_ context: RequestContext) throws(Problem) -> WebhookReport {
    let id = context.path["id"] ?? ""
    guard let report = context.service.webhooks?.report(id) else { throw Problem(missing: id) }
    return report
  }

  private static func number(
    _ text: String?, _ name: String, _ range: ClosedRange<Int64>
  ) throws(Problem) -> Int64? {
    guard let text else { return nil }
    guard let number = Int64(text), range.contains(number), text.first != "+" else {
      let form = name == "cursor" ? "next of the previous page" : "an integer between 1 and \(range.upperBound)"
      throw Problem(.badRequest, "\(name) must be \(form), got \(text.prefix(80).debugDescription)")
    }
    return number
  }

  private static func answer(_ document: JSON) -> HTTPResponse {
    HTTPResponse(headers: RepresentationHeaders.headers(.json), body: .bytes(document.bytes + [0x0a]))
  }
}

extension Problem {
  fileprivate init(missing id: String) {
    self.init(
      .notFound, "no webhook \(id.prefix(80).debugDescription); GET /webhooks lists all")
  }

  /// The store cannot be read now.
  fileprivate static let logUnavailable = Problem(
    .overloaded, "the delivery log cannot be read now; retry later")
}
