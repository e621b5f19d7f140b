internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusClient

/// `reachd targets add`.
struct TargetsAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Register a target: exit 0 done, 1 refused, 2 no response.",
    usage: "reachd targets add ID TARGET [OPTIONS]",
    discussion: """
      Omitted options have the service's defaults. The target is checked immediately,
      then at each interval, and when the route to it changes. Needs the scope
      targets:write where the service requires a token.

      EXAMPLES
        reachd targets add db tcp://db:5432
        reachd targets add web https://web/health --interval 5s --label env=prod
      """)

  @Argument(help: "The id: 1 to 68 of a-z, 0-9, dot, underscore and hyphen.")
  var id: String

  @Argument(help: "The target, such as tcp://db:5432; host:port means tcp, a host icmp.")
  var target: String

  @Option(help: "The module; default: the one for the target's scheme.")
  var module: String?

  @Option(help: "The interval of checks, such as 30s.")
  var interval: String?

  @Option(help: "The timeout of one check, shorter than the interval.")
  var checkTimeout: String?

  @Option(help: "The interval while the state is about to change.")
  var fastInterval: String?

  @Option(help: "The number of failed checks until the target is down.")
  var fall: Int?

  @Option(help: "The number of successful checks until the target is up.")
  var rise: Int?

  @Option(help: "A label NAME=VALUE; may be given more than once.")
  var label: [String] = []

  @Option(help: "A target that it depends on, or alternatives A|B of which one must work; may be given more than once.")
  var dependsOn: [String] = []

  @Flag(help: "Register the target without checking it.")
  var paused = false

  @Flag(help: "Change the target if it exists.")
  var replace = false

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    var spec = try spec()
    // The service validates the module.
    spec.module = nil
    do throws(TargetSpec.Faults) {
      _ = try spec.definition()
    } catch {
      throw ValidationError(error.faults.map { "\(Self.argument($0.field)): \($0)" }.joined(separator: "\n"))
    }
  }

  mutating func run() throws {
    let answer = try client.sendOrExit(
      "PUT", "/targets/\(id)", body: TargetFormatter.body(spec()), fields: replace ? [:] : ["If-None-Match": "*"],
      source)
    switch answer.status {
    case 200, 201:
      guard let document = try? JSON.parse(answer.body), let (_, line) = TargetFormatter.line(document) else {
        throw ClientOptions.undetermined("the response is not a target")
      }
      Terminal.line(line.withoutControls)
    case 412 where !replace:
      Terminal.writeError("reachd: the target \(id) exists; use --replace to change it")
      throw ExitStatus.negative
    case 400..<500:
      Terminal.writeError("reachd: \(answer.problem)")
      throw ExitStatus.negative
    default: throw ClientOptions.unexpected(answer)
    }
  }

  /// The argument or option with a field of the definition.
  private static func argument(_ field: TargetSpec.Field) -> String {
    switch field {
    case .id, .target: field.rawValue
    case .timeout: "--check-timeout"
    case .fastInterval: "--fast-interval"
    case .labels: "--label"
    case .dependsOn: "--depends-on"
    case .module, .interval, .fall, .rise, .paused: "--\(field.rawValue)"
    }
  }

  private func spec() throws -> TargetSpec {
    var spec = TargetSpec()
    spec.id = id
    spec.target = CheckCommand.withScheme(target)
    spec.module = module
    spec.interval = try duration(interval, "--interval")
    spec.timeout = try duration(checkTimeout, "--check-timeout")
    spec.fastInterval = try duration(fastInterval, "--fast-interval")
    spec.fall = fall
    spec.rise = rise
    spec.isPaused = paused
    spec.dependsOn = dependsOn.map { TargetDependency(anyOf: $0.split(separator: "|").map(String.init)) }
    for text in label {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw ValidationError("--label must be NAME=VALUE, got \(text.debugDescription)")
      }
      guard spec.labels.updateValue(String(parts[1]), forKey: String(parts[0])) == nil else {
        throw ValidationError("--label \(String(parts[0]).debugDescription) is given more than once")
      }
    }
    return spec
  }

  private func duration(_ text: String?, _ option: String) throws -> Duration? {
    guard let text else { return nil }
    guard let duration = DurationFormat.parse(text) else {
      throw ValidationError("\(option) must be a duration, such as 500ms or 30s, got \(text.debugDescription)")
    }
    return duration
  }
}
