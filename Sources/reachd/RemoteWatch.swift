internal import ArgumentParser
internal import Dispatch
internal import HostProcess
internal import Locks
internal import StatusClient
internal import TextSyntax

/// Follows the event stream of a service for `reachd watch --url`.
struct RemoteWatch: Sendable {
  var client: ClientOptions
  var source: SourceOptions
  /// The hosts to watch; empty for the service's machine.
  var hosts: [String]
  var isJSON: Bool
  var color: ColorOption
  var hook: ChangeHook?

  /// The first and the longest delay before the next connection, in seconds; it doubles with each failure.
  private static let delays: (first: UInt32, longest: UInt32) = (1, 30)

  /// Prints events until an error that a new connection does not fix; returns the exit code.
  func run() async -> ExitCode {
    StandardStreams.exitWhenOutputCloses()
    // A thread of its own, because the transfer blocks.
    return await withCheckedContinuation { continuation in
      DispatchQueue(label: "watch").async { continuation.resume(returning: follow()) }
    }
  }

  private var path: String {
    let items = hosts.map { "host=\(PercentEncoding.encoded($0))" }
    return "/events?" + (hosts.isEmpty ? ["types=status,path"] : ["types=host"] + items).joined(separator: "&")
  }

  private func follow() -> ExitCode {
    let reader = Reader(self)
    var delay = Self.delays.first
    while true {
      let before = reader.count
      let failure: String
      var noResponse: (any Error)?
      do {
        let response = try client.stream(path, after: reader.lastID, source, receive: reader.receive)
        let isStream = response.status == 200 && response.contentType?.hasPrefix("text/event-stream") == true
        // Overload and shutdown end; other responses do not change without a change of the command.
        guard isStream || [429, 503].contains(response.status) else {
          return ClientOptions.unexpected(response)
        }
        failure = isStream ? "the service closed the stream" : response.problem
      } catch let code as ExitCode {
        return code
      } catch {
        (failure, noResponse) = ("\(error)", error)
      }
      // A service that never responded is probably the wrong address.
      guard reader.count > 0 else {
        return noResponse.map(ClientOptions.noResponse) ?? ClientOptions.undetermined(failure)
      }
      delay = reader.count > before ? Self.delays.first : min(delay * 2, Self.delays.longest)
      Terminal.writeError("reachd: \(failure); reconnecting in \(delay) s")
      reader.reset()
      _ = Latch().wait(atMost: .seconds(delay))
    }
  }

  /// Prints the events of a stream, on the thread of the transfer.
  private final class Reader {
    private let watch: RemoteWatch
    private var frames = SSEReader()
    /// The number of events received.
    private(set) var count = 0

    init(_ watch: RemoteWatch) { self.watch = watch }

    var lastID: String? { watch.hosts.isEmpty ? frames.lastID : nil }

    func reset() { frames.reset() }

    func receive(_ part: [UInt8]) {
      guard let events = frames.read(part) else {
        Terminal.writeError("reachd: an event exceeds the limit; the stream is not from reachd")
        RemoteWatch.exit(ExitStatus.undetermined)
      }
      for event in events {
        count += 1
        guard let update = RemoteEvent(event, watchingHosts: !watch.hosts.isEmpty) else { continue }
        if watch.isJSON {
          Terminal.json(update.json)
        } else if let line = update.line {
          Terminal.line(watch.color.colored(line, within: WatchCommand.wordsBeforeStatus + 1))
        }
        if let hook = watch.hook, !update.facts.isEmpty { RemoteWatch.wait { await hook.run(update.facts) } }
      }
    }
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

  private static func exit(_ code: ExitCode) -> Never { Reachd.exit(withError: code) }
}
