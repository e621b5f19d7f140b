import Glibc
import TestSupport
import Testing

@testable import Database

@Suite("Files of the database module")
struct FileTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test("A data directory is created for its owner only, and is locked once")
  func lock() throws {
    let path = directory.path + "/data"
    let first = try #require(try DataDirectory(locking: path))
    try first.create("file")
    #expect(mode(path) == 0o700)
    #expect(mode(path + "/file") == 0o600)
    // The lock belongs to the open file, so that a second one in this process is refused, too.
    #expect(try DataDirectory(locking: path) == nil)
    try first.rename("file", to: "other")
    #expect(first.names.sorted() == ["lock", "other"])
  }

  @Test("A page keeps its words in its file, and another user's or a linked file is refused")
  func page() throws {
    let path = directory.path + "/page"
    var page: DatabaseSharedPage? = try DatabaseSharedPage(path)
    page?[511] = 42
    page = nil
    #expect(try DatabaseSharedPage(path)[511] == 42)
    #expect(unsafe link(path, directory.path + "/link") == 0)
    #expect(throws: DatabaseFileError.self) { _ = try DatabaseSharedPage(path) }
    #expect(unsafe symlink(path, directory.path + "/symlink") == 0)
    #expect(throws: DatabaseFileError.self) { _ = try DatabaseSharedPage(directory.path + "/symlink") }
  }
}
