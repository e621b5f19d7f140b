/// A target's definition as specified by a user: some fields, not validated.
public struct TargetSpec: Hashable, Sendable {
  /// The name.
  public var id: String?
  /// `tcp://db:5432`.
  public var target: String?
  /// The module's name; nil for the default of the scheme.
  public var module: String?
  /// Labels.
  public var labels: [String: String] = [:]
  /// See ``TargetDefinition/interval``.
  public var interval: Duration?
  /// See ``TargetDefinition/timeout``.
  public var timeout: Duration?
  /// See ``TargetDefinition/fastInterval``.
  public var fastInterval: Duration?
  /// See ``TargetDefinition/fall``.
  public var fall: Int?
  /// See ``TargetDefinition/rise``.
  public var rise: Int?
  /// Whether checks are suspended.
  public var isPaused = false
  /// See ``TargetDefinition/dependsOn``.
  public var dependsOn: [TargetDependency] = []

  /// Creates an empty specification.
  public init() {}

  /// The definition with defaults for omitted fields.
  ///
  /// - Parameter modules: further modules in addition to the built-in ones; of two with one name the first wins.
  /// - Returns: a valid definition.
  /// - Throws: all faults.
  public func definition(modules: [CheckModule] = []) throws(Faults) -> TargetDefinition {
    var faults: [Fault] = []
    func value<Value>(_ result: Result<Value, Fault>) -> Value? {
      switch result {
      case .success(let value): return value
      case .failure(let fault):
        faults.append(fault)
        return nil
      }
    }
    let id = value(checkedID())
    let target = value(checkedTarget())
    let module = target.flatMap { value(checkedModule($0, modules)) }
    let interval = value(Self.within(.interval, interval ?? TargetDefinition.Default.interval, Bounds.interval))
    let times = interval.flatMap { value(checkedTimes($0)) }
    let fall = value(Self.counted(.fall, fall ?? TargetDefinition.Default.fall))
    let rise = value(Self.counted(.rise, rise ?? TargetDefinition.Default.rise))
    faults += labelFaults() + dependencyFaults()
    guard faults.isEmpty, let id, let target, let module, let interval, let times, let fall, let rise else {
      throw Faults(faults)
    }
    return TargetDefinition(
      id: id, target: target, module: module, labels: labels, interval: interval, timeout: times.timeout,
      fastInterval: times.fastInterval, fall: fall, rise: rise, isPaused: isPaused,
      dependsOn: dependsOn)
  }

  // MARK: - Fields

  private func checkedID() -> Result<String, Fault> {
    let form =
      #"an id has 1 to 68 characters of a-z, 0-9, ".", "_" and "-", and is not ".", ".." or "\#(Self.reservedID)""#
    guard let id else { return .failure(Fault(.id, "the id is missing", hint: form)) }
    guard Self.isID(id) else { return .failure(Fault(.id, "\(id.shortened) is not an id", hint: form)) }
    return .success(id)
  }

  /// The path segment of `GET /targets/overview`, which no target can have.
  public static let reservedID = "overview"

  /// Whether a text is a valid id; `.` and `..` are not, because clients remove them from a path (RFC 3986 §5.2.4).
  public static func isID(_ text: String) -> Bool {
    text != "." && text != ".." && text != reservedID && Bounds.id.contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  private func checkedTarget() -> Result<CheckTarget, Fault> {
    guard let target else {
      return .failure(Fault(.target, "the target is missing", hint: "write something like tcp://db:5432"))
    }
    do throws(TargetError) {
      return .success(try CheckTarget(target))
    } catch {
      return .failure(Fault(.target, error.problem, hint: error.hint))
    }
  }

  private func checkedModule(_ target: CheckTarget, _ modules: [CheckModule]) -> Result<CheckModule, Fault> {
    let known = modules + CheckModule.builtIn
    guard let module else {
      let standard = CheckModule.standard(for: target.scheme)
      return .success(known.first { $0.name == standard.name && $0.fits(target.scheme) } ?? standard)
    }
    let fitting = known.filter { $0.fits(target.scheme) }.map(\.name).joined(separator: ", ")
    guard let found = known.first(where: { $0.name == module }) else {
      return .failure(Fault(.module, "unknown module \(module.shortened)", hint: "expected one of \(fitting)"))
    }
    guard found.fits(target.scheme) else {
      return .failure(
        Fault(
          .module, "the module \(module) does not fit \(target.scheme.rawValue)://",
          hint: "expected one of \(fitting)"))
    }
    return .success(found)
  }

  private func checkedTimes(_ interval: Duration) -> Result<(timeout: Duration, fastInterval: Duration), Fault> {
    let timeout = timeout ?? TargetDefinition.Default.timeout(of: interval)
    if case .failure(let fault) = Self.within(.timeout, timeout, Bounds.timeout) { return .failure(fault) }
    guard timeout < interval else {
      return .failure(
        Fault(
          .timeout, "a timeout of \(Self.text(timeout)) does not end before the interval of \(Self.text(interval))",
          hint: "a check must be over before the next begins"))
    }
    let fastInterval = fastInterval ?? min(TargetDefinition.Default.fastInterval, interval)
    guard Bounds.interval.contains(fastInterval), fastInterval <= interval else {
      return .failure(
        Fault(
          .fastInterval, "a fast interval of \(Self.text(fastInterval)) is not possible",
          hint: "from \(Self.text(Bounds.interval.lowerBound)) to the interval of \(Self.text(interval))"))
    }
    return .success((timeout, fastInterval))
  }

  /// A duration as a user writes it.
  private static func text(_ duration: Duration) -> String { DurationFormat.shortest(duration) }

  private static func within(
    _ field: Field, _ value: Duration, _ range: ClosedRange<Duration>
  ) -> Result<Duration, Fault> {
    range.contains(value)
      ? .success(value)
      : .failure(
        Fault(
          field, "\(field.rawValue) cannot be \(text(value))",
          hint: "from \(text(range.lowerBound)) to \(text(range.upperBound))"))
  }

  private static func counted(_ field: Field, _ value: Int) -> Result<Int, Fault> {
    Bounds.count.contains(value)
      ? .success(value)
      : .failure(
        Fault(
          field, "\(field.rawValue) cannot be \(value)",
          hint: "from \(Bounds.count.lowerBound) to \(Bounds.count.upperBound)"))
  }

  /// Whether a text is a label's name: 1 to 63 letters, digits, dots, underscores, hyphens and slashes.
  public static func isLabelName(_ name: String) -> Bool {
    Bounds.label.contains(name.utf8.count) && name.utf8.allSatisfy(isInLabel)
  }

  private func labelFaults() -> [Fault] {
    if labels.count > Bounds.labels {
      return [Fault(.labels, "there are \(labels.count) labels", hint: "at most \(Bounds.labels)")]
    }
    return labels.sorted { $0.key < $1.key }.compactMap { name, value in
      guard Self.isLabelName(name) else {
        return Fault(
          .labels, label: name, "\(name.shortened) is not a label name",
          hint: "1 to 63 of letters, digits, dot, underscore, hyphen and slash")
      }
      guard Bounds.labelValue.contains(value.utf8.count), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
        return Fault(
          .labels, label: name, "\(value.shortened) is not a label value",
          hint: "at most \(Bounds.labelValue.upperBound) bytes without control characters")
      }
      return nil
    }
  }

  private static func isInLabel(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "/"): true
    default: false
    }
  }
}

extension String {
  /// The text in quotes, limited in length, because untrusted text can have any length.
  var shortened: String { count > 80 ? String(prefix(80)).debugDescription + "…" : debugDescription }
}
