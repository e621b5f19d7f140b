internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityChecks

/// `GET /targets/{id}/explain`: the diagnosis of a registered target.
///
/// It explains the present state and makes no check, so that it needs no more than the scope to read, and the policy for
/// targets of clients does not apply to the targets of the configuration.
enum TargetExplanationRoute {
  static let explain = NodeRoute(
    pattern: "/targets/{id}/explain", mediaTypes: [.json, .text],
    summary: "why a registered target is up or not, step by step"
  ) { (context) throws(Problem) in
    let report = try TargetRoutes.report(context)
    guard !report.definition.isPaused else {
      throw Problem(.conflict, "the target is paused; resume it, or use GET /explain")
    }
    let monitor = context.service.monitor
    var explanation = Diagnosis(of: report.currentOutcome(monitor), in: monitor.snapshot)
    let id = report.definition.id
    explanation.addDependencies(context.service.targets.schedule.failingDependencies(of: id), of: report)
    let body =
      context.media == .text
      ? Array(CheckExplanationRepresentation.text(explanation).utf8)
      : CheckExplanationRepresentation.document(explanation, text: report.definition.target.redacted).bytes + [0x0a]
    return .now(HTTPResponse(headers: RepresentationHeaders.headers(context.media), body: .bytes(body)))
  }
}
