package import NetworkReachability

/// A caller's wish for a check, valid: one request for each family that was asked for, made `count` times.
package struct CheckPlan: Sendable {
  /// How long all checks of a wish may take together: the answer waits for the last.
  static let longestTime = Duration.seconds(600)
  /// The longest that a caller may have us wait for one check.
  static let longestTimeout = Duration.seconds(60)
  /// The most repetitions of one check; echoes are repeated within one.
  static let mostRepetitions = 10
  /// How old an outcome may be that a caller contents itself with.
  static let greatestAge = Duration.seconds(3_600)

  /// The target as the caller wrote it, without what may be a secret: for answers.
  var text: String
  /// What to do, in order.
  var requests: [ProbeRequest]
  /// How old an outcome may be.
  var maximumAge: Duration

  /// The modules that are always there, by name.
  package static let builtInModules = Dictionary(
    uniqueKeysWithValues: ProbeModule.builtIn.map { ($0.name, $0) })

  /// Judges a wish.
  ///
  /// - Parameters:
  ///   - wish: what the caller said.
  ///   - modules: the modules there are, by name.
  ///   - policy: whom the caller may contact; nil for everybody.
  /// - Throws: a refusal that says what is wrong and what to write.
  package init(_ wish: Wish, modules: [String: ProbeModule], policy: ContactPolicy?) throws(Refusal) {
    let target: ProbeTarget
    (text, target) = try Self.target(wish)
    var module = try Self.module(wish.module, for: target, modules)
    let timeout = try Self.timeout(wish)
    maximumAge = try Self.duration(wish.maxAge, "maxAge", upTo: Self.greatestAge, else: .zero)
    let repetitions = try Self.repetitions(wish.count, &module)
    let way = try Self.way(wish, target)
    if case .icmp(let recipe) = module.recipe, recipe.spacing * (recipe.count - 1) >= timeout {
      throw Refusal(
        "\(recipe.count) echoes, \(DurationText.shortest(recipe.spacing)) apart, do not end within "
          + "\(DurationText.shortest(timeout)); take fewer, or a longer timeout.")
    }
    let families = try Self.families(wish.ip, module, from: way.source)
    guard timeout * (repetitions * families.count) <= Self.longestTime else {
      throw Refusal(
        "\(repetitions * families.count) checks of \(wish.timeout ?? "5s") are more than "
          + "\(Self.longestTime.components.seconds)s; take fewer, or a shorter timeout.")
    }
    requests = families.flatMap { family in
      Array(
        repeating: ProbeRequest(
          target, module: module, timeout: timeout, family: family, source: way.source, interface: way.interface,
          policy: policy), count: repetitions)
    }
    if requests.contains(where: { $0.moduleVerdict == .denied }) { throw Refusal(deniedModule: module.name) }
  }

  /// Refuses what is wrong with a wish whatever modules there are: those of a file may not be known yet.
  package static func examine(_ wish: Wish) throws(Refusal) {
    _ = try way(wish, target(wish).target)
    _ = try timeout(wish)
  }

  private static func target(_ wish: Wish) throws(Refusal) -> (text: String, target: ProbeTarget) {
    guard let text = wish.target else {
      var refusal = Refusal("The target is missing; write target=tcp://db:5432.")
      refusal.isTarget = true
      throw refusal
    }
    do throws(TargetError) {
      let target = try ProbeTarget(text)
      return (target.redacting(text), target)
    } catch {
      throw Refusal(error)
    }
  }

  private static func timeout(_ wish: Wish) throws(Refusal) -> Duration {
    let timeout = try duration(wish.timeout, "timeout", upTo: longestTimeout, else: .seconds(5))
    guard timeout > .zero else { throw Refusal("timeout is longer than nothing, such as 500ms.") }
    return timeout
  }

  private static func module(
    _ name: String?, for target: ProbeTarget, _ modules: [String: ProbeModule]
  ) throws(Refusal) -> ProbeModule {
    guard let name else {
      let standard = ProbeModule.standard(for: target.scheme)
      // One of the same name stands in its place.
      return modules[standard.name] ?? standard
    }
    guard let module = modules[name] else {
      let known = modules.keys.sorted().joined(separator: ", ")
      throw Refusal("There is no module \(name.debugDescription); there are \(known).")
    }
    guard module.fits(target.scheme) else {
      throw Refusal("The module \(name) is not for \(target.scheme.rawValue):// targets.")
    }
    return module
  }

  private static func repetitions(_ text: String?, _ module: inout ProbeModule) throws(Refusal) -> Int {
    guard let text else { return 1 }
    var most = mostRepetitions
    if case .icmp = module.recipe { most = ICMPRecipe.mostEchoes }
    guard let count = Int(text), (1...most).contains(count) else {
      throw Refusal("count=\(text.debugDescription) is no number from 1 to \(most).")
    }
    guard case .icmp(var recipe) = module.recipe else { return count }
    recipe.count = count
    module.recipe = .icmp(recipe)
    return 1
  }

  private static func families(
    _ text: String?, _ module: ProbeModule, from source: IPAddress?
  ) throws(Refusal) -> [FamilyChoice] {
    // An own address to send from decides as well.
    let sources = source.map { $0.unmapped.family == .ipv4 ? FamilyChoice.ipv4 : .ipv6 }
    switch text {
    case nil: return [module.family]
    case "both": return sources.map { [$0] } ?? [.ipv4, .ipv6]
    case .some(let text):
      guard let family = FamilyChoice(rawValue: text) else {
        throw Refusal("ip=\(text.debugDescription) is not known; any, 4, 6 and both are.")
      }
      if let source, let sources, family != .any, family != sources {
        throw Refusal("ip=\(text) and the source \(source) are of two families; leave one of them out.")
      }
      return [family]
    }
  }

  private static func way(
    _ wish: Wish, _ target: ProbeTarget
  ) throws(Refusal) -> (source: IPAddress?, interface: String?) {
    do throws(TargetError) {
      let way = try ReachabilityTarget(
        host: target.host.host, source: wish.source, interface: wish.interface ?? target.host.interface)
      return (way.source, way.interface)
    } catch {
      throw Refusal(error)
    }
  }

  private static func duration(
    _ text: String?, _ name: String, upTo most: Duration, else standard: Duration
  ) throws(Refusal) -> Duration {
    guard let text else { return standard }
    guard let duration = DurationText.parse(text), duration <= most else {
      throw Refusal(
        "\(name)=\(text.debugDescription) is no duration up to \(most.components.seconds)s, such as 5s.")
    }
    return duration
  }
}
