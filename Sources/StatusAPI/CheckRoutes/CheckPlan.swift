package import NetworkReachability

/// A valid request for checks: one check for each requested family, repeated `count` times.
package struct CheckPlan: Sendable {
  /// The maximum total time of all checks of a plan, because the response waits for the last one.
  static let totalTimeLimit = Duration.seconds(600)
  static let timeoutLimit = Duration.seconds(60)
  /// The maximum number of repetitions of a check; an ICMP check repeats echo requests internally.
  static let repetitionLimit = 10
  /// The maximum age of a cached outcome that a client may accept.
  static let ageLimit = Duration.seconds(3_600)

  /// The target as the client wrote it, without secrets, for responses.
  var text: String
  /// The checks, in order.
  var requests: [CheckRequest]
  var maximumAge: Duration

  /// Whether the checks use HTTP over TLS.
  package var usesHTTPS: Bool { requests.contains { $0.target.scheme == .https } }

  package static let builtInModules = Dictionary(
    uniqueKeysWithValues: CheckModule.builtIn.map { ($0.name, $0) })

  /// Validates parameters.
  ///
  /// - Parameters:
  ///   - parameters: the client's parameters.
  ///   - modules: the available modules, by name.
  ///   - policy: the addresses that the client may contact; nil allows all.
  /// - Throws: the invalid parameter, with a valid example.
  package init(_ parameters: Parameters, modules: [String: CheckModule], policy: ContactPolicy?)
    throws(InvalidParameters)
  {
    let target: CheckTarget
    (text, target) = try Self.target(parameters)
    let timeout = try Self.timeout(parameters)
    maximumAge = try Self.duration(parameters.maxAge, "maxAge", upTo: Self.ageLimit, else: .zero)
    let (repetitions, module) = try Self.repeated(
      Self.module(parameters.module, for: target, modules), parameters.count)
    let binding = try Self.binding(parameters, target)
    if let options = module.options[ICMPOptions.self], options.spacing * (options.count - 1) >= timeout {
      throw InvalidParameters(
        "\(options.count) echo requests, one every \(DurationFormat.shortest(options.spacing)), exceed the timeout of "
          + "\(DurationFormat.shortest(timeout)); reduce count, or increase timeout")
    }
    let families = try Self.families(parameters.ip, module, of: target, from: binding.source)
    guard timeout * (repetitions * families.count) <= Self.totalTimeLimit else {
      throw InvalidParameters(
        "\(repetitions * families.count) checks of \(parameters.timeout ?? "5s") exceed the total of "
          + "\(DurationFormat.shortest(Self.totalTimeLimit)); reduce count or timeout")
    }
    requests = families.flatMap { family in
      Array(
        repeating: CheckRequest(
          target, module: module, timeout: timeout, family: family, source: binding.source,
          interface: binding.interface,
          policy: policy), count: repetitions)
    }
    if requests.contains(where: { $0.moduleVerdict == .denied }) { throw InvalidParameters(deniedModule: module.name) }
  }

  /// Validates parameters independently of the modules, which may not be loaded yet.
  package static func validate(_ parameters: Parameters) throws(InvalidParameters) {
    _ = try binding(parameters, target(parameters).target)
    _ = try timeout(parameters)
  }

  private static func target(_ parameters: Parameters) throws(InvalidParameters) -> (text: String, target: CheckTarget)
  {
    guard let text = parameters.target else {
      var refusal = InvalidParameters("target is missing; expected for example target=tcp://db:5432")
      refusal.isTargetInvalid = true
      throw refusal
    }
    do throws(TargetError) {
      let target = try CheckTarget(text)
      return (target.redacting(text), target)
    } catch {
      throw InvalidParameters(error)
    }
  }

  private static func timeout(_ parameters: Parameters) throws(InvalidParameters) -> Duration {
    let timeout = try duration(parameters.timeout, "timeout", upTo: timeoutLimit, else: .seconds(5))
    guard timeout > .zero else { throw InvalidParameters("timeout must be greater than zero, such as 500ms") }
    return timeout
  }

  private static func module(
    _ name: String?, for target: CheckTarget, _ modules: [String: CheckModule]
  ) throws(InvalidParameters) -> CheckModule {
    guard let name else {
      let standard = CheckModule.standard(for: target.scheme)
      // A configured module of the same name replaces the standard one.
      return modules[standard.name] ?? standard
    }
    guard let module = modules[name] else {
      let known = modules.keys.sorted().joined(separator: ", ")
      throw InvalidParameters("unknown module \(name.debugDescription); expected one of \(known)")
    }
    guard module.fits(target.scheme) else {
      throw InvalidParameters("the module \(name) does not support \(target.scheme.rawValue):// targets")
    }
    return module
  }

  /// The number of checks and their module; for ICMP one check that repeats its echo requests.
  private static func repeated(
    _ module: CheckModule, _ text: String?
  ) throws(InvalidParameters) -> (repetitions: Int, module: CheckModule) {
    guard let text else { return (1, module) }
    var echo = module.options[ICMPOptions.self]
    let most = echo == nil ? repetitionLimit : ICMPOptions.maximumCount
    guard let count = Int(text), (1...most).contains(count) else {
      throw InvalidParameters("count must be an integer between 1 and \(most), got \(text.debugDescription)")
    }
    echo?.count = count
    guard let echo else { return (count, module) }
    var module = module
    module.options = .icmp(echo)
    return (1, module)
  }

  private static func family(of address: IPAddress) -> CheckAddressFamily {
    address.unmapped.family == .ipv4 ? .ipv4 : .ipv6
  }

  private static func families(
    _ text: String?, _ module: CheckModule, of target: CheckTarget, from source: IPAddress?
  ) throws(InvalidParameters) -> [CheckAddressFamily] {
    // A source address determines the family, too.
    let sources = source.map(Self.family)
    var address: IPAddress?
    if case .address(let literal) = target.host.remote { address = literal }
    switch text {
    case nil: return [module.family]
    case "both": return (sources ?? address.map(Self.family)).map { [$0] } ?? [.ipv4, .ipv6]
    case .some(let text):
      guard let family = CheckAddressFamily(rawValue: text) else {
        throw InvalidParameters("ip must be any, 4, 6 or both, got \(text.debugDescription)")
      }
      if let source, let sources, family != .any, family != sources {
        throw InvalidParameters("ip=\(text) and the source \(source) are of different families; omit one of them")
      }
      if let address, family != .any, family != Self.family(of: address) {
        throw InvalidParameters("ip=\(text) does not fit the address \(address); omit ip")
      }
      return [family]
    }
  }

  private static func binding(
    _ parameters: Parameters, _ target: CheckTarget
  ) throws(InvalidParameters) -> (source: IPAddress?, interface: String?) {
    do throws(TargetError) {
      let binding = try ReachabilityTarget(
        host: target.host.host, source: parameters.source, interface: parameters.interface ?? target.host.interface)
      return (binding.source, binding.interface)
    } catch {
      throw InvalidParameters(error)
    }
  }

  private static func duration(
    _ text: String?, _ name: String, upTo most: Duration, else standard: Duration
  ) throws(InvalidParameters) -> Duration {
    guard let text else { return standard }
    guard let duration = DurationFormat.parse(text), duration <= most else {
      throw InvalidParameters(
        "\(name) must be a duration of at most \(DurationFormat.shortest(most)), such as 5s, "
          + "got \(text.debugDescription)")
    }
    return duration
  }
}
