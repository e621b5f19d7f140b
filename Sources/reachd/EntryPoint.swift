internal import ArgumentParser
internal import Dispatch
internal import History
internal import HostProcess
internal import ReachabilityModel
internal import Service

/// The entry point of the program, which keeps the process at one thread until `serve` is prepared.
@main
enum EntryPoint {
  /// With fewer descriptors, threads of the system libraries end the process without a message.
  private static let minimumDescriptors: UInt64 = 64
  /// With fewer, Dispatch waits forever for a thread of its own and SIGTERM is not handled.
  private static let minimumThreads = 16
  /// A single reading of the kernel has the thread `netlink`, and tasks that do not wait.
  private static let minimumThreadsOfReading = 4

  /// Prepares `serve` while there is only this thread, and runs the commands that need no other thread.
  ///
  /// The kernel keeps capabilities and signal masks per thread, so `serve` must drop them before the first thread
  /// starts. An asynchronous `main` would begin after the runtime has started its threads.
  static func main() {
    let inherited = InheritedProcessState()
    StandardStreams.fill()
    DatabaseReading.runIfRequested(CommandLine.arguments)
    // Before the probers and the HTTP servers, whose sizes depend on the limit.
    ProcessDescriptorLimit.raise()
    let descriptors = ProcessUsage.maximumDescriptors
    guard descriptors >= minimumDescriptors else {
      Terminal.writeError(
        "reachd: the limit of \(descriptors) open files is below the required \(minimumDescriptors); see ulimit -n")
      // For Docker, 0 is healthy and 1 is unhealthy; it defines no other code.
      let isHealthcheck = CommandLine.arguments.dropFirst().first == HealthcheckCommand.configuration.commandName
      Reachd.exit(withError: isHealthcheck ? ExitStatus.negative : ExitStatus.unavailable)
    }
    // Swift reads them from /proc; without them every command would be "help", which exits with 0.
    guard !CommandLine.arguments.isEmpty else {
      Terminal.writeError("reachd: the arguments cannot be read: is /proc mounted?")
      Reachd.exit(withError: ExitStatus.unavailable)
    }
    if let problem = Reachd.unknownCommand(in: CommandLine.arguments.dropFirst()) {
      Terminal.writeError(problem)
      Reachd.exit(withError: ExitCode.validationFailure)
    }
    // Before everything else: a service manager may send SIGTERM at any time, and expects exit code 0.
    if CommandLine.arguments.dropFirst().first == ServeCommand.configuration.commandName {
      requireThreads()
      ProcessSignals.exitOnTermination()
    } else {
      ProcessSignals.exitAsFirstProcess()
    }
    do {
      let replacement = try ProcessReplacement(of: CommandLine.arguments, inherited)
      let own = CommandLine.arguments[..<(replacement?.terminator ?? CommandLine.arguments.endIndex)]
      // Arguments are parsed once, because parsing thousands of targets takes long.
      try start(try Reachd.parseAsRoot(Array(own.dropFirst())), replacement)
    } catch {
      end(error)
    }
  }

  /// Runs a command, and returns when it has ended.
  private static func start(_ parsed: any ParsableCommand, _ replacement: ProcessReplacement?) throws {
    switch parsed {
    case let serve as ServeCommand:
      let daemon = try serve.prepare()
      Task.detached {
        do {
          try await ServeCommand.run(daemon)
          Reachd.exit()
        } catch {
          end(error)
        }
      }
      wait()
    case let command as TopCommand:
      requireThreads()
      // Every thread inherits the mask: no signal may end the process while the terminal shows another screen.
      ProcessTerminalSignals.block()
      Task.detached { await finish(command) }
      wait()
    case let check as CheckCommand: runConcurrently(check)
    case let wait as WaitCommand:
      guard let replacement else { runConcurrently(wait) }
      run(wait, before: replacement)
    case let watch as WatchCommand: runConcurrently(watch)
    case let gates as GatesCommand: runConcurrently(gates)
    case var status as StatusCommand where status.direct:
      requireThreads(minimumThreadsOfReading)
      try status.run()
      Reachd.exit()
    default:
      // Also where no thread can be created: a probe of a container's health must not fail for that.
      var command = parsed
      try command.run()
      Reachd.exit()
    }
  }

  /// Ends the process with a message if threads cannot be created.
  private static func requireThreads(_ count: Int = minimumThreads) {
    guard let obstacle = ProcessUsage.obstacle(toThreads: count) else { return }
    Terminal.writeError("reachd: \(obstacle)")
    Reachd.exit(withError: ExitStatus.unavailable)
  }

  /// Waits until the process exits; not by dispatchMain(), which unblocks signals on this thread that must stay blocked.
  ///
  /// The main actor cannot be used meanwhile.
  private static func wait() -> Never {
    while true { DispatchSemaphore(value: 0).wait() }
  }

  /// Runs a command that waits for other threads.
  private static func runConcurrently(_ command: some AsyncParsableCommand & Sendable) -> Never {
    requireThreads()
    Task { await finish(command) }
    dispatchMain()
  }

  /// Runs `wait`, and then the command after it in place of this process, on this thread.
  private static func run(_ wait: WaitCommand, before replacement: ProcessReplacement) -> Never {
    requireThreads()
    // The parent process may have blocked them; the command inherits that, and not this.
    ProcessTerminalSignals.unblock()
    let begin = ContinuousClock.now
    let success = DispatchSemaphore(value: 0)
    Task.detached {
      var command = wait
      do {
        try await command.run()
        success.signal()
      } catch {
        end(error)
      }
    }
    success.wait()
    replacement.perform(after: ContinuousClock.now - begin)
  }

  /// Runs a command to its end like `Reachd.main()`, with ``end(_:)`` for errors.
  private static func finish(_ parsed: some AsyncParsableCommand & Sendable) async -> Never {
    var command = parsed
    do {
      try await command.run()
      Reachd.exit()
    } catch {
      // Those that `top` has blocked: they must end a process that waits to write its message.
      ProcessTerminalSignals.unblock()
      end(error)
    }
  }

  /// Exits with an error's code after its message, in which control characters of quoted arguments are escaped.
  private static func end(_ error: any Error) -> Never {
    let code = Reachd.exitCode(for: error)
    var message = Reachd.fullMessage(for: error)
    // Help, the version and completions go to standard output.
    guard !code.isSuccess else {
      if !message.isEmpty { Terminal.line(message) }
      Reachd.exit()
    }
    for argument in CommandLine.arguments where argument.withoutControls != argument {
      message = message.replacing(argument, with: argument.withoutControls)
    }
    if !message.isEmpty {
      for line in message.split(separator: "\n", omittingEmptySubsequences: false) { Terminal.writeError(line) }
    }
    Reachd.exit(withError: code)
  }
}
