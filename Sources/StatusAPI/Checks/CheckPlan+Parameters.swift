internal import NetworkReachability

extension CheckPlan {
  /// What a caller may say about a check, as text: a query's parameters, an object's members, a command's options.
  package struct Parameters: Sendable {
    var target: String?
    var module: String?
    var timeout: String?
    var count: String?
    var ip: String?
    var source: String?
    var interface: String?
    var maxAge: String?

    /// What a member of an object may be called.
    static let keys: [String: any WritableKeyPath<Parameters, String?> & Sendable] = [
      "target": \.target, "module": \.module, "timeout": \.timeout, "count": \.count, "ip": \.ip, "source": \.source,
      "interface": \.interface, "maxAge": \.maxAge,
    ]

    /// A wish; what is nil is left to the defaults.
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

  /// Why a wish is no plan.
  package struct InvalidParameters: Error, CustomStringConvertible {
    /// Whether the target is to blame, and not what is said about it.
    var isTargetInvalid = false
    /// The module that may not be used for the target, if that is why.
    var deniedModule: String?
    /// What is wrong and what to write instead: a sentence.
    package var description: String

    init(_ description: String) { self.description = description }

    /// The module may not be used for the target.
    init(deniedModule name: String) {
      self.init(
        "Callers may not use the module \(name) for this target; modules.\(name).hosts in the configuration says where "
          + "they may.")
      deniedModule = name
    }

    init(_ error: TargetError) {
      self.init("\(error.problem); \(error.hint).")
      isTargetInvalid = true
    }
  }
}
