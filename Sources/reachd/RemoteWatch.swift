internal import ArgumentParser
internal import Dispatch
internal import HostProcess
internal import JSONFormat
internal import Locks
internal import StatusClient
internal import TextSyntax

/// Follows the event stream of a service for `reachd watch --url` and `reachd gates --watch`.
struct RemoteWatch: Sendable {
  var client: ClientOptions
  var source: SourceOptions
  /// The hosts to watch; empty for the service's machine.
  var hosts: [String]
  var isJSON: Bool
  var color: ColorOption
  var hook: ChangeHook?
  /// Whether to print the events of gates only.
  var watchesGates = false

  /// Prints events until an error that a new connection does not fix; returns the exit code.
  func run() async -> ExitCode {
    StandardStreams.exitWhenOutputCloses()
    // A thread of its own, because the transfer blocks.
    return await withCheckedContinuation { continuation in
      DispatchQueue(label: "watch").async { continuation.resume(returning: follow()) }
    }
  }

  private var path: String {
    if watchesGates { return "/events?types=gate" }
    let items = hosts.map { "host=\(PercentEncoding.encoded($0))" }
    return "/events?" + (hosts.isEmpty ? ["types=status,path"] : ["types=host"] + items).joined(separator: "&")
  }

  private func follow() -> ExitCode {
    let feed = EventFeed(ClientConnection(client: client, source: source), path: path, resumes: hosts.isEmpty)
    switch feed.follow(handle) {
    case .unexpected(let response): return ClientOptions.unexpected(response)
    case .failed(.unusable(let error)): return error as? ExitCode ?? ExitStatus.undetermined
    case .failed(.noResponse(let reason, let hint)):
      defer { if let hint { Terminal.writeError("reachd: \(hint)") } }
      return ClientOptions.undetermined(reason)
    }
  }

  /// Prints an event, on the thread of the transfer.
  private func handle(_ message: EventFeed.Message) {
    switch message {
    case .interrupted(let reason, let delay): Terminal.writeError("reachd: \(reason); reconnecting in \(delay) s")
    case .oversized:
      Terminal.writeError("reachd: an event exceeds the limit; the stream is not from reachd")
      Reachd.exit(withError: ExitStatus.undetermined)
    case .event(let event):
      guard !watchesGates else { return printGate(event) }
      guard let update = RemoteEvent(event, watchingHosts: !hosts.isEmpty) else { return }
      if isJSON {
        Terminal.json(update.json)
      } else if let line = update.line {
        Terminal.line(color.colored(line, within: WatchCommand.wordsBeforeStatus + 1))
      }
      if let hook, !update.facts.isEmpty { Self.wait { await hook.run(update.facts) } }
    }
  }

  private func printGate(_ event: SSEReader.Event) {
    guard event.name == "gate", let data = try? JSON.parse(Array(event.data.utf8)), let line = GateFormatter.event(data)
    else { return }
    if isJSON { Terminal.json(event.data) } else { Terminal.line(color.colored(line, within: 2)) }
  }

  /// Waits for an operation on this thread, which is not one of the cooperative pool.
  private static func wait(for operation: @escaping @Sendable () async -> Void) {
    let end = Latch()
    Task {
      await operation()
      end.open()
    }
    end.wait()
  }
}
