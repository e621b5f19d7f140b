/// A named check configuration: the protocol, its options and the expectations for the answer.
///
/// The names of the built-in modules, and of most fields, are those of blackbox_exporter.
public struct CheckModule: Hashable, Sendable {
  /// The name: `tcp_connect`, `http_2xx`, or a name of the configuration.
  public var name: String
  /// The protocol and its options.
  public var options: Options
  /// The address family that is used when the caller does not choose one.
  public var family: CheckAddressFamily
  /// Which addresses of a host must answer.
  public var addresses: CheckAddressSelection
  /// The targets for which a caller may use it.
  public var access: ModuleAccess

  /// The options of a prober: `.tcp(TCPOptions())`.
  public struct Options: Hashable, Sendable {
    package let value: any CheckOptions

    package init(_ value: some CheckOptions) { self.value = value }

    /// The options of this type; nil for another prober.
    public subscript<Value>(_ type: Value.Type) -> Value? { value as? Value }

    /// Whether both are equal options of the same prober.
    public static func == (left: Options, right: Options) -> Bool { left.value.equals(right.value) }

    /// Hashes the options.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  /// Creates a module.
  public init(
    name: String, options: Options, family: CheckAddressFamily = .any, addresses: CheckAddressSelection = .any,
    access: ModuleAccess = .configuredTargets
  ) {
    self.name = name
    self.options = options
    self.family = family
    self.addresses = addresses
    self.access = access
  }

  /// Whether this module applies to targets of that scheme.
  public func fits(_ scheme: CheckTarget.Scheme) -> Bool { type(of: options.value).schemes.contains(scheme) }

  /// The built-in modules; a configuration may redefine them.
  public static let builtIn: [CheckModule] = CheckTarget.Scheme.allCases.map { scheme in
    let type = Options.types.first { $0.schemes.contains(scheme) }
    return CheckModule(name: scheme.descriptor.module, options: type.map { Options($0.init()) } ?? .route)
  }

  /// The built-in module that a scheme uses by default.
  public static func standard(for scheme: CheckTarget.Scheme) -> CheckModule {
    let name = scheme.descriptor.module
    return builtIn.first { $0.name == name } ?? CheckModule(name: name, options: .route)
  }
}
