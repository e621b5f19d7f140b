internal import ArgumentParser
internal import History

/// `reachd store`: maintenance of a data directory.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Maintain a data directory.", subcommands: [Check.self])

  /// `reachd store check`.
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check the database of a data directory that no service uses.",
      discussion: "Exit code: 0 sound, 1 damaged, 69 in use, 78 not a usable directory.")

    @Option(help: "The data directory.")
    var data: String

    func run() throws {
      do throws(StoreError) {
        let problems = try HistoryStore.check(data)
        guard !problems.isEmpty else { return Terminal.line("ok") }
        for problem in problems { Terminal.line(problem) }
        throw StoreError.unavailable
      } catch .unavailable {
        throw ExitStatus.negative
      } catch {
        Terminal.writeError("reachd: \(error)")
        throw error.isInUse ? ExitStatus.unavailable : ExitStatus.configuration
      }
    }
  }
}
