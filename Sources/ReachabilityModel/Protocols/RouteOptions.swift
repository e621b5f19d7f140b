package struct RouteOptions: CheckOptions {
  package static let prober = "route"
  package static let schemes = [CheckTarget.Scheme.route]
  package static let keys: [String] = []

  package init() {}
}

extension CheckModule.Options {
  /// A route lookup.
  public static let route = Self(RouteOptions())
}
