internal import ReachabilityModel

/// Detects requests that cannot be performed.
enum ProberRequestValidation {
  /// The error in a request; nil for none.
  static func refusal(of request: CheckRequest) -> String? {
    let scheme = request.target.scheme
    guard scheme != .route else { return "a route is looked up, not checked" }
    guard request.module.fits(scheme) else {
      return "the module \(request.module.name) is not for \(scheme.rawValue)://"
    }
    switch request.target.host.remote {
    case .address, .name: break
    case .defaultPath, .localLink: return "\(request.target.host) is no host that could answer"
    }
    return scheme.hasPort && request.target.port == nil ? "\(scheme.rawValue):// needs a port" : nil
  }
}
