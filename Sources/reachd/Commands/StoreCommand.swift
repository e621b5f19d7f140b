internal import ArgumentParser
internal import History
internal import ReachabilityModel

/// `reachd store`: maintenance of a data directory.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Maintain a data directory.", subcommands: [Check.self, Acknowledge.self])

  /// `reachd store check`.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check the database of a data directory that no service uses.",
      discussion: """
        Checks all pages, the tables and the references between rows, and changes
        nothing. A database without a write-ahead log can be on a read-only file system.

        Exit code: 0 sound; 1 damaged, or of another program; 69 in use; 78 not a usable
        directory, or of a later version.
        """)

    @Option(help: "The data directory.")
    var data: String

    func run() throws {
      do throws(StoreError) {
        let problems = try HistoryStore.check(data)
        guard !problems.isEmpty else { return Terminal.line("ok") }
        for problem in problems { Terminal.line(problem.withoutControls) }
        throw StoreError.unavailable
      } catch .unavailable {
        throw ExitStatus.negative
      } catch {
        Terminal.writeError("reachd: \(error)")
        throw error.isInUse ? ExitStatus.unavailable : ExitStatus.configuration
      }
    }
  }

  /// `reachd store acknowledge`.
  struct Acknowledge: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "acknowledge", abstract: "Acknowledge that a database was set aside.",
      discussion: """
        Prints a line for each database that the service has set aside since the last
        acknowledgement, and ends the warning in /readyz?verbose and the alert. The
        files stay. A service may use the directory; it notices this within seconds.

        Exit code: 0 acknowledged, or nothing to acknowledge; 78 not a usable directory.
        """)

    @Option(help: "The data directory.")
    var data: String

    func run() throws {
      do throws(StoreError) {
        let notices = try HistoryStore.acknowledge(data)
        for notice in notices { Terminal.line(notice) }
        if notices.isEmpty { Terminal.line("nothing to acknowledge") }
      } catch {
        Terminal.writeError("reachd: \(error)")
        throw ExitStatus.configuration
      }
    }
  }
}
