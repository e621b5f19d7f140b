internal import EventStreams
internal import JSONFormat
internal import Locks
internal import HTTPRouting
internal import ReachabilityChecks

/// `POST /checks`: many active checks.
enum BatchCheckRoute {
  static let checkLimit = 1_000
  /// The initial and maximum size of a result stream's buffer, in bytes; a thousand typical results take a megabyte.
  private static let initialStreamBytes = 16 * 1024
  private static let streamByteLimit = 64 * 1024 * 1024

  static let checks = NodeRoute(
    method: "POST", pattern: "/checks", scope: .check, mediaTypes: [.json, .ndjson],
    summary: "up to 1000 active checks: an array of targets, an array of results"
  ) { (context) throws(Problem) in
    let plans = try plans(context)
    try context.service.checkQuota.admit(plans.reduce(0) { $0 + $1.requests.count }, context.routed)
    let checker = context.service.checker
    if context.media == .ndjson { return .now(lines(plans, checker, context)) }
    return .later { promise in
      let gathered = OrderedResults(count: plans.count) { documents in
        let body = JSON.members(["results": .array(documents)]).bytes + [0x0a]
        promise.fulfil(HTTPResponse(headers: RepresentationHeaders.headers(.json), body: .bytes(body)))
      }
      let runs = plans.enumerated().map { index, plan in
        plan.run(checker) {
          context.service.checkQuota.charge($0, context.routed)
          gathered.put(CheckRepresentation.document($0, text: plan.text), at: index)
        }
      }
      promise.onAbandonment { runs.forEach { $0.cancel() } }
    }
  }

  /// Returns a response with one line per check, in the order of completion.
  private static func lines(_ plans: [CheckPlan], _ checker: Checker, _ context: RequestContext) -> HTTPResponse {
    let log = EventLog(byteCapacity: initialStreamBytes, growingTo: streamByteLimit, entryCapacity: plans.count)
    let count = Locked<UInt64>(0)
    let cursor = log.end
    let runs = plans.map { plan in
      plan.run(checker) { outcomes in
        context.service.checkQuota.charge(outcomes, context.routed)
        let line = CheckRepresentation.document(outcomes, text: plan.text).bytes + [0x0a]
        // Under the lock, so that entries are appended in order.
        count.withLock { count in
          count += 1
          log.append(id: count, kind: 0, bytes: line)
        }
      }
    }
    // A space is insignificant before a JSON text; an empty line would be a line without a document.
    let blank = [UInt8(ascii: " ")]
    let stream = EventStreamResponse(
      feeds: [.init(log: log, cursor: cursor)], heartbeat: .init(bytes: blank), endsAfter: UInt64(plans.count),
      onAbandonment: { runs.forEach { $0.cancel() } })
    return HTTPResponse(headers: RepresentationHeaders.headers(.ndjson), body: .stream(stream))
  }

  // MARK: - Request body

  private static func plans(_ context: RequestContext) throws(Problem) -> [CheckPlan] {
    let targets = context.service.targets
    let (policy, modules) = (targets.policy(), targets.modulesByName)
    var plans: [CheckPlan] = []
    var errors: [FieldError] = []
    var denied: [FieldError] = []
    for (index, element) in try elements(context).enumerated() {
      do throws(CheckPlan.InvalidParameters) {
        plans.append(try CheckPlan(try parameters(element), modules: modules, policy: policy))
      } catch {
        let fault = FieldError(pointer: "/\(index)", detail: error.description)
        if error.deniedModule == nil { errors.append(fault) } else { denied.append(fault) }
      }
    }
    guard denied.isEmpty else {
      throw Problem(.moduleDenied, "\(denied.count) of the checks are denied; no check was performed", errors: denied)
    }
    guard errors.isEmpty else {
      throw Problem(.invalid, "\(errors.count) of the checks are invalid; no check was performed", errors: errors)
    }
    return plans
  }

  private static func elements(_ context: RequestContext) throws(Problem) -> [JSON] {
    guard case .array(let elements) = try RequestBody.json(context.request) else {
      throw Problem(
        .badRequest, "the body must be an array, for example [\"tcp://db:5432\", {\"target\": \"icmp://10.0.0.1\"}]")
    }
    guard (1...checkLimit).contains(elements.count) else {
      throw Problem(.badRequest, "the array must have 1 to \(checkLimit) elements, got \(elements.count)")
    }
    return elements
  }

  private static func parameters(_ node: JSON) throws(CheckPlan.InvalidParameters) -> CheckPlan.Parameters {
    if let target = node.string { return CheckPlan.Parameters(target: target) }
    guard let members = node.members else {
      throw CheckPlan.InvalidParameters(
        "expected a string or an object, got \(node.kind); write \"tcp://db:5432\" or {\"target\": \"tcp://db:5432\"}")
    }
    var parameters = CheckPlan.Parameters()
    for member in members {
      guard let key = CheckPlan.Parameters.keys[member.name] else {
        let known = CheckPlan.Parameters.keys.keys.sorted().joined(separator: ", ")
        throw CheckPlan.InvalidParameters("unknown member \(member.name.debugDescription); expected one of \(known)")
      }
      switch member.value {
      case .string(let text): parameters[keyPath: key] = text
      case .integer(let number): parameters[keyPath: key] = String(number)
      default:
        throw CheckPlan.InvalidParameters(
          "\(member.name) must be a string or an integer, got \(member.value.kind)")
      }
    }
    return parameters
  }
}

/// Collects documents that arrive in any order, and returns them in the order of the request.
private final class OrderedResults: Sendable {
  private struct State {
    var documents: [JSON]
    var missing: Int
  }

  private let state: Locked<State>
  private let completion: @Sendable ([JSON]) -> Void

  init(count: Int, _ completion: @escaping @Sendable ([JSON]) -> Void) {
    state = Locked(State(documents: Array(repeating: .null, count: count), missing: count))
    self.completion = completion
  }

  func put(_ document: JSON, at index: Int) {
    let documents = state.withLock { state -> [JSON]? in
      state.documents[index] = document
      state.missing -= 1
      return state.missing == 0 ? state.documents : nil
    }
    if let documents { completion(documents) }
  }
}
