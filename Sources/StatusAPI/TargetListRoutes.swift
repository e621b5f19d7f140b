internal import JSONTree
internal import MicroHTTP
internal import NetworkReachability
internal import ReachabilityChecks

/// `/targets`: the list of registered targets, and many of them at once.
enum TargetListRoutes {
  /// Targets of one page, by default and at the most.
  static let pageSize = 100
  static let largestPage = 1_000

  static let list = Route(
    pattern: "/targets", parameters: ["state", "label", "limit", "cursor"], offers: [.json],
    summary: "the registered targets with their states"
  ) { (exchange) throws(Problem) in
    let states = try states(exchange.query["state"])
    let labels = try labels(exchange.query["label"])
    let limit = try limit(exchange.query["limit"])
    let cursor = exchange.query["cursor"]
    if let cursor, !TargetDraft.isID(cursor) {
      throw Problem(.badRequest, "cursor=\(cursor.prefix(80).debugDescription) is none that was given out.")
    }
    let last = exchange.service.feed.lastEvent
    // One more than is wanted shows whether there is a next page.
    let reports = exchange.service.targets.schedule.reports(after: cursor, limit: limit + 1) { report in
      (states.isEmpty || states.contains(report.status.state)) && labels.allSatisfy { $0.matches(report.definition) }
    }
    let page = reports.prefix(limit)
    let next = reports.count > limit ? page.last?.definition.id : nil
    let body = JSON.members([
      "targets": .array(page.map { TargetBody.document($0, exchange.service.monitor) }), "next": .text(next),
    ])
    var headers = StateHeaders.headers(.json)
    headers["Last-Event-ID"] = last.description
    if let next { headers["Link"] = "<\(link(exchange, next, limit))>; rel=\"next\"" }
    return .now(HTTPResponse(headers: headers, body: .bytes(body.bytes + [0x0a])))
  }

  static let post = Route(
    method: "POST", pattern: "/targets", scope: .targetsWrite, offers: [.json],
    summary: "register a target, or register and change many"
  ) { (exchange) throws(Problem) in
    let body = try RequestBody.json(exchange.request)
    if let items = body.elements { return .now(answer(items, at: "", exchange)) }
    if let targets = body["targets"] {
      guard let items = targets.elements else {
        throw Problem(fields: [FieldError(pointer: "/targets", detail: "expected an array, found \(targets.kind)")])
      }
      return .now(answer(items, at: "/targets", exchange))
    }
    let definition: TargetDefinition
    do throws(TargetReader.Faults) {
      definition = try TargetReader.definition(body, at: "", modules: exchange.service.targets.modules)
    } catch {
      throw Problem(fields: error.errors)
    }
    if let denial = exchange.service.targets.denial(definition) { throw denial }
    switch exchange.service.targets.schedule.put(definition, if: .absent) {
    case .created(let report), .replaced(let report):
      return .now(TargetRoutes.answer(report, exchange, status: 201))
    case .refused(.precondition):
      throw Problem(.conflict, "There is a target \(definition.id) already; PUT /targets/\(definition.id) changes it.")
    case .refused(let refusal): throw Problem(refusal, definition.id)
    }
  }

  // MARK: - Many at once

  /// Puts each by itself: what is wrong with one is no reason to refuse the others.
  private static func answer(_ items: [JSONNode], at pointer: String, _ exchange: Exchange) -> HTTPResponse {
    var seen: Set<String> = []
    let read = items.enumerated().map { index, item in
      Result { () throws(Problem) in try definition(item, at: "\(pointer)/\(index)", &seen, exchange) }
    }
    let placements = exchange.service.targets.schedule.put(read.compactMap { try? $0.get() })
    var placed = placements.makeIterator()
    let results = zip(items, read).map { item, read -> JSON in
      switch read {
      case .failure(let problem): return failure(item["id"]?.string, problem)
      case .success(let definition):
        switch placed.next() {
        case .created(let report): return success(report, 201, exchange)
        case .replaced(let report): return success(report, 200, exchange)
        case .refused(let refusal): return failure(definition.id, Problem(refusal, definition.id))
        case nil: return failure(definition.id, Problem(.missing, definition.id))
        }
      }
    }
    let body = JSON.members(["results": .array(results)])
    return HTTPResponse(headers: StateHeaders.headers(.json), body: .bytes(body.bytes + [0x0a]))
  }

  private static func definition(
    _ item: JSONNode, at pointer: String, _ seen: inout Set<String>, _ exchange: Exchange
  ) throws(Problem) -> TargetDefinition {
    let definition: TargetDefinition
    do throws(TargetReader.Faults) {
      let modules = exchange.service.targets.modules(for: item["id"]?.string)
      definition = try TargetReader.definition(item, at: pointer, modules: modules)
    } catch {
      throw Problem(fields: error.errors)
    }
    guard seen.insert(definition.id).inserted else {
      throw Problem(fields: [FieldError(pointer: pointer + "/id", detail: "\(definition.id) is given twice")])
    }
    if let denial = exchange.service.targets.denial(definition) { throw denial }
    return definition
  }

  private static func failure(_ id: String?, _ problem: Problem) -> JSON {
    .members([
      "id": .text(id), "status": .integer(Int64(problem.status)), "code": .string(problem.code.rawValue),
      "detail": .string(problem.detail), "errors": .array(problem.errors.map(\.document)),
    ])
  }

  private static func success(_ report: TargetReport, _ status: Int64, _ exchange: Exchange) -> JSON {
    .members([
      "id": .string(report.definition.id), "status": .integer(status),
      "etag": .string(TargetRoutes.tag(report.revision, exchange)),
    ])
  }

  // MARK: - The query

  private static func states(_ text: String?) throws(Problem) -> Set<TargetState> {
    guard let text else { return [] }
    var states: Set<TargetState> = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let state = TargetState(rawValue: String(word)) else {
        let known = TargetState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(.badRequest, "There is no state \(String(word.prefix(80)).debugDescription); there are \(known).")
      }
      states.insert(state)
    }
    return states
  }

  /// `env=prod`, or `env` for any value.
  private struct LabelRule {
    var name: String
    var value: String?

    func matches(_ definition: TargetDefinition) -> Bool {
      guard let found = definition.labels[name] else { return false }
      return value.map { $0 == found } ?? true
    }
  }

  private static func labels(_ text: String?) throws(Problem) -> [LabelRule] {
    guard let text else { return [] }
    var rules: [LabelRule] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else {
        throw Problem(.badRequest, "label=\(text.prefix(80).debugDescription) is no list such as env=prod,team.")
      }
      rules.append(LabelRule(name: String(name), value: parts.count > 1 ? String(parts[1]) : nil))
    }
    return rules
  }

  private static func limit(_ text: String?) throws(Problem) -> Int {
    guard let text else { return pageSize }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let limit = Int(text), (1...largestPage).contains(limit)
    else {
      throw Problem(.badRequest, "limit=\(text.prefix(80).debugDescription) is no number from 1 to \(largestPage).")
    }
    return limit
  }

  /// The next page by the same rules.
  private static func link(_ exchange: Exchange, _ next: String, _ limit: Int) -> String {
    var items = ["limit=\(limit)", "cursor=\(next)"]
    for name in ["label", "state"] {
      guard let value = exchange.query[name] else { continue }
      items.insert("\(name)=\(encoded(value))", at: 0)
    }
    return "/targets?" + items.joined(separator: "&")
  }

  /// Percent sequences for everything but what needs none in a query (RFC 3986 §2.3).
  private static func encoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { encoded, byte in
      let isPlain = TargetDraft.isID(String(UnicodeScalar(byte))) || (0x41...0x5a).contains(byte) || byte == 0x2c
      let digits = String(byte, radix: 16, uppercase: true)
      encoded += isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
  }
}
