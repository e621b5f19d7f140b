internal import JSONFormat
internal import ReachabilityFleet
internal import ReachabilityModel

/// Pages of the list of what an agent checks.
enum GatewayPages {
  /// The page after a target; nil for the first.
  static func answer(
    _ list: (roster: GatewayConfirmation.Roster, checks: [TargetSpec])?, after: String?
  ) -> GatewayAnswer {
    guard let (roster, checks) = list else { return .failed("not everything is read") }
    let rest = checks.drop { $0.id ?? "" <= after ?? "" }
    var page: [TargetSpec] = []
    var bytes = 0
    for spec in rest {
      bytes += GatewayWire.encode(spec).bytes.count + 1
      guard page.isEmpty || bytes <= GatewayLimits.pageBytes else { break }
      page.append(spec)
    }
    let next = page.count < rest.count ? page.last?.id : nil
    return .roster(GatewayRosterPage(roster: roster, checks: page, next: next))
  }
}
