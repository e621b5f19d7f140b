internal import ArgumentParser
internal import Dispatch
internal import HostProcess

/// Where the program begins: with one thread, for as long as that matters.
@main
enum Entry {
  /// With fewer, threads of the system's libraries that cannot open what they need end the process without a word.
  private static let fewestDescriptors: UInt64 = 64
  /// With fewer, Dispatch waits for ever for a thread of its own, deaf to SIGTERM.
  private static let fewestThreads = 16

  /// Prepares a service while there is only this thread; everything else is the command's own affair.
  ///
  /// The kernel keeps capabilities and signal masks per thread, so a service must be rid of them before the first thread
  /// is started; an asynchronous `main` would begin when the runtime has its threads already.
  static func main() {
    StandardStreams.fill()
    let descriptors = ProcessUsage.mostDescriptors
    guard descriptors >= fewestDescriptors else {
      Terminal.complain("reachd: \(descriptors) open files are too few, it takes \(fewestDescriptors); see ulimit -n")
      Reachd.exit(withError: Exit.unavailable)
    }
    // Swift reads them in /proc; without them every command would be "help", which ends with 0.
    guard !CommandLine.arguments.isEmpty else {
      Terminal.complain("reachd: the arguments cannot be read: is /proc there?")
      Reachd.exit(withError: Exit.unavailable)
    }
    // First of all: a service manager may send SIGTERM at any moment, and expects 0 for it.
    if CommandLine.arguments.dropFirst().first == ServeCommand.configuration.commandName {
      guard ProcessUsage.canStart(threads: fewestThreads) else {
        Terminal.complain("reachd: it takes \(fewestThreads) threads; see ulimit -u, and pids.max of the control group")
        Reachd.exit(withError: Exit.unavailable)
      }
      ProcessSignals.obeyRequests()
    }
    do {
      guard let serve = try Reachd.parseAsRoot() as? ServeCommand else {
        Task {
          await Reachd.main()
          Reachd.exit()
        }
        dispatchMain()
      }
      let daemon = try serve.prepare()
      Task.detached {
        do {
          try await ServeCommand.run(daemon)
          Reachd.exit()
        } catch {
          Reachd.exit(withError: error)
        }
      }
      // Not on the main actor, whose thread waits here, and not dispatchMain(), which lets the signals
      // that we hold through to this thread.
      while true { DispatchSemaphore(value: 0).wait() }
    } catch {
      Reachd.exit(withError: error)
    }
  }
}
