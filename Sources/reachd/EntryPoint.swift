internal import ArgumentParser
internal import Dispatch
internal import HostProcess
internal import ReachabilityModel
internal import Service

/// Where the program begins: with one thread, for as long as that matters.
@main
enum EntryPoint {
  /// With fewer, threads of the system's libraries that cannot open what they need end the process without a word.
  private static let minimumDescriptors: UInt64 = 64
  /// With fewer, Dispatch waits for ever for a thread of its own, deaf to SIGTERM.
  private static let minimumThreads = 16

  /// Prepares a service while there is only this thread; everything else is the command's own affair.
  ///
  /// The kernel keeps capabilities and signal masks per thread, so a service must be rid of them before the first thread
  /// is started; an asynchronous `main` would begin when the runtime has its threads already.
  static func main() {
    StandardStreams.fill()
    // Before the probers and the HTTP servers, which are sized by it.
    DescriptorLimit.raise()
    let descriptors = ProcessUsage.maximumDescriptors
    guard descriptors >= minimumDescriptors else {
      Terminal.writeError(
        "reachd: \(descriptors) open files are too few, it takes \(minimumDescriptors); see ulimit -n")
      // Docker reserves the other codes.
      let isHealthcheck = CommandLine.arguments.dropFirst().first == HealthcheckCommand.configuration.commandName
      Reachd.exit(withError: isHealthcheck ? ExitStatus.negative : ExitStatus.unavailable)
    }
    // Swift reads them in /proc; without them every command would be "help", which ends with 0.
    guard !CommandLine.arguments.isEmpty else {
      Terminal.writeError("reachd: the arguments cannot be read: is /proc there?")
      Reachd.exit(withError: ExitStatus.unavailable)
    }
    let serve = ServeCommand.configuration.commandName ?? ""
    // First of all: a service manager may send SIGTERM at any moment, and expects 0 for it.
    if CommandLine.arguments.dropFirst().first == serve {
      guard ProcessUsage.canStart(threads: minimumThreads) else {
        Terminal.writeError(
          "reachd: it takes \(minimumThreads) threads; see ulimit -u, and pids.max of the control group")
        Reachd.exit(withError: ExitStatus.unavailable)
      }
      ProcessSignals.exitOnTermination()
    }
    do {
      // Who gives thousands of targets waits for the arguments once, not twice.
      let maybeServe = CommandLine.arguments.contains(serve)
      guard maybeServe, let command = try Reachd.parseAsRoot() as? ServeCommand else {
        Task { await run() }
        dispatchMain()
      }
      let daemon = try command.prepare()
      Task.detached {
        do {
          try await ServeCommand.run(daemon)
          Reachd.exit()
        } catch {
          end(error)
        }
      }
      // Not on the main actor, whose thread waits here, and not dispatchMain(), which lets the signals
      // that we hold through to this thread.
      while true { DispatchSemaphore(value: 0).wait() }
    } catch {
      end(error)
    }
  }

  /// Runs a command that is no service, as `Reachd.main()` would, but for its end.
  private static func run() async -> Never {
    do {
      var command = try Reachd.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      Reachd.exit()
    } catch {
      end(error)
    }
  }

  /// Ends with an error's code, after its words, in which arguments are quoted: they keep to their line.
  private static func end(_ error: any Error) -> Never {
    let code = Reachd.exitCode(for: error)
    // Help, the version and completions, which go to standard output.
    guard !code.isSuccess else { Reachd.exit(withError: error) }
    var message = Reachd.fullMessage(for: error)
    for argument in CommandLine.arguments where argument.withoutControls != argument {
      message = message.replacing(argument, with: argument.withoutControls)
    }
    if !message.isEmpty {
      for line in message.split(separator: "\n", omittingEmptySubsequences: false) { Terminal.writeError(line) }
    }
    Reachd.exit(withError: code)
  }
}
