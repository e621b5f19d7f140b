internal import Database
internal import Locks
internal import Logging
internal import ReachabilityModel

/// What an operator has not acknowledged: a line for each database that was set aside.
///
/// A file of the data directory has the lines, so that they outlive the process. `reachd store acknowledge` removes the file,
/// and the service notices that.
final class StoreNotices: Sendable {
  static let name = "set-aside"

  private struct State {
    var lines: [String] = []
    /// Lines that are not in the file, because the disk has failed or is full.
    var unwritten: [String] = []
  }

  private let file: DataDirectoryFile
  private let state = Locked(State())

  /// Reads the lines of earlier runs.
  init(_ directory: String) {
    file = DataDirectoryFile(Self.name, in: directory)
    let lines = (try? Self.lines(of: file)) ?? []
    state.withLock { $0.lines = lines }
  }

  /// The lines that are not acknowledged, the oldest first.
  var lines: [String] { state.withLock(\.lines) }

  /// Adds a line.
  func add(_ line: String, _ logger: Logger) {
    // Messages of SQLite quote what a damaged file contains.
    let line = String(line.withoutControls.prefix(Limits.noticeCharacters))
    state.withLock { state in
      state.lines.append(line)
      state.unwritten.append(line)
    }
    write(logger)
  }

  /// Writes the lines that are not written yet, and forgets those whose file was removed.
  func refresh(_ logger: Logger) {
    guard !lines.isEmpty else { return }
    guard state.withLock(\.unwritten).isEmpty else { return write(logger) }
    guard !file.exists else { return }
    state.withLock { $0.lines = [] }
    logger.notice("the databases that were set aside were acknowledged")
  }

  private func write(_ logger: Logger) {
    let unwritten = state.withLock(\.unwritten)
    do throws(DatabaseFileError) {
      try file.append(unwritten.map { $0 + "\n" }.joined())
      state.withLock { $0.unwritten = [] }
    } catch {
      logger.debug("a notice cannot be written", metadata: ["error": "\(error)"])
    }
  }

  /// The lines in the file of a directory; empty if there is none.
  private static func lines(of file: DataDirectoryFile) throws(DatabaseFileError) -> [String] {
    let text = try file.text(atMost: Limits.noticeBytes) ?? ""
    return text.split(separator: "\n").map { String($0).withoutControls }
  }

  /// Removes the file of a directory.
  ///
  /// - Returns: its lines.
  static func acknowledge(in directory: String) throws(DatabaseFileError) -> [String] {
    let file = DataDirectoryFile(Self.name, in: directory)
    let lines = try lines(of: file)
    try file.remove()
    return lines
  }
}
