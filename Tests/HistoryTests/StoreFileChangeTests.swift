import Database
import Glibc
import TestSupport
import Testing

@testable import History

@Suite struct StoreFileChangeTests {
  private let directory: StoreDirectory
  private let files: StoreFiles
  private let connection: DatabaseConnection
  private let opened: OpenStoreFiles

  init() throws {
    directory = try StoreDirectory()
    let data = try #require(try DataDirectory(locking: directory.data.path))
    files = StoreFiles(directory: data, configuration: directory.configuration)
    connection = try files.open()
    try connection.checkpoint()
    opened = files.opened
  }

  private func path(_ name: String) -> String { "\(directory.data.path)/\(name)" }

  @Test func openFilesThatAreInPlaceAreUnchanged() throws {
    #expect(files.change(since: opened) == nil)
    // What the store itself does.
    try connection.run("INSERT INTO meta VALUES('key', zeroblob(100000))")
    #expect(files.change(since: opened) == nil)
    try connection.checkpoint()
    #expect(files.change(since: opened) == nil)
    _ = unsafe chmod(path("reachd.db"), 0o640)
    _ = unsafe utimes(path("reachd.db"), nil)
    #expect(files.change(since: opened) == nil)
  }

  @Test(arguments: ["reachd.db", "reachd.db-wal", "reachd.db-shm", "lock"], [true, false])
  func deletedAndReplacedFilesAreRecognized(name: String, isReplaced: Bool) throws {
    #expect(unsafe rename(path(name), path("old")) == 0)
    if isReplaced { _ = try directory.data.write("other", as: name) }
    let what = isReplaced ? "was replaced" : "was deleted"
    switch files.change(since: opened) {
    case .database(let reason): #expect(name == "reachd.db" && reason.hasSuffix(what), "\(reason)")
    case .log(let reason): #expect(name.hasPrefix("reachd.db-") && reason.hasSuffix(what), "\(reason)")
    case .lock: #expect(name == "lock")
    case .truncated, nil: Issue.record("\(name) \(what)")
    }
    // Put back, it is the same file.
    #expect(unsafe rename(path("old"), path(name)) == 0)
    #expect(files.change(since: opened) == nil)
  }

  @Test func aShorterDatabaseIsRecognized() throws {
    #expect(unsafe truncate(path("reachd.db"), 4096) == 0)
    #expect(files.change(since: opened) == .truncated)
  }

  /// As without permissions: the open files can still be used.
  @Test func whatCannotBeDeterminedIsNoChange() throws {
    let (path, other) = (directory.data.path, directory.data.path + "-other")
    #expect(unsafe rename(path, other) == 0)
    defer {
      _ = unsafe unlink(path)
      _ = unsafe rename(other, path)
    }
    // Every use of the path fails with ELOOP.
    #expect(unsafe symlink(path, path) == 0)
    #expect(files.directory.status(of: "reachd.db") == .unknown)
    #expect(files.change(since: opened) == nil)
    #expect(files.directory.isInPlace)
  }
}
