internal import NetworkReachability

extension CheckPlan {
  /// The parameters of a check as text, from a query, a JSON object or command-line options.
  package struct Parameters: Sendable {
    var target: String?
    var module: String?
    var timeout: String?
    var count: String?
    var ip: String?
    var source: String?
    var interface: String?
    var maxAge: String?

    /// The member names of a JSON object.
    static let keys: [String: any WritableKeyPath<Parameters, String?> & Sendable] = [
      "target": \.target, "module": \.module, "timeout": \.timeout, "count": \.count, "ip": \.ip, "source": \.source,
      "interface": \.interface, "maxAge": \.maxAge,
    ]

    /// Creates parameters; nil selects the default.
    package init(
      target: String? = nil, module: String? = nil, timeout: String? = nil, count: String? = nil, ip: String? = nil,
      source: String? = nil, interface: String? = nil, maxAge: String? = nil
    ) {
      self.target = target
      self.module = module
      self.timeout = timeout
      self.count = count
      self.ip = ip
      self.source = source
      self.interface = interface
      self.maxAge = maxAge
    }
  }

  package struct InvalidParameters: Error, CustomStringConvertible {
    /// Whether the target is invalid, and not another parameter.
    var isTargetInvalid = false
    /// The module that must not be used for the target, if that is the reason.
    var deniedModule: String?
    /// The invalid value and a valid example.
    package var description: String

    init(_ description: String) { self.description = description }

    /// Creates the error for a module that must not be used for the target.
    init(deniedModule name: String) {
      self.init(
        "the module \(name) is denied for this target; add the target to modules.\(name).hosts in the configuration")
      deniedModule = name
    }

    init(_ error: TargetError) {
      self.init("\(error.problem); \(error.hint)")
      isTargetInvalid = true
    }
  }
}
