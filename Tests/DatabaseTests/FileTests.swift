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

  @Test("A second lock is refused also when the lock file was deleted")
  func deletedLock() throws {
    let path = directory.path + "/data"
    let first = try #require(try DataDirectory(locking: path))
    #expect(first.hasNewLock)
    #expect(unsafe unlink(path + "/lock") == 0)
    #expect(try DataDirectory(locking: path) == nil)
    #expect(!first.isInPlace)
    #expect(try first.relock())
    #expect(first.isInPlace)
    try first.write(record: [1, 2, 3])
    #expect(first.record == [1, 2, 3])
    #expect(try DataDirectory(locking: path) == nil)
    first.unlock()
    let second = try #require(try DataDirectory(locking: path))
    #expect(!second.hasNewLock)
    #expect(second.record == [1, 2, 3])
  }

  @Test("A directory that takes the place of another one is locked, unless another process has it")
  func replacedDirectory() throws {
    let path = directory.path + "/data"
    let first = try #require(try DataDirectory(locking: path))
    #expect(unsafe rename(path, directory.path + "/old") == 0)
    #expect(!first.isInPlace)
    var second = try DataDirectory(locking: path)
    #expect(second != nil)
    #expect(try !first.relock(), "another one has it")
    #expect(try DataDirectory(locking: directory.path + "/old") == nil, "the lock is as before")
    second = nil
    #expect(try first.relock())
    #expect(first.isInPlace)
    #expect(try DataDirectory(locking: path) == nil)
    #expect(try DataDirectory(locking: directory.path + "/old") != nil, "the old one is free")
    #expect(unsafe rename(path, directory.path + "/other") == 0)
    #expect(try first.relock(), "a missing directory is made again")
    #expect(mode(path) == 0o700)
  }

  @Test("A file that takes the place of a deleted one has another birth time")
  func birth() throws {
    let data = try #require(try DataDirectory(locking: directory.path))
    #expect(data.birthTime(of: "file") == nil)
    #expect(data.status(of: "file") == .missing)
    try data.create("file")
    let (birth, status) = (data.birthTime(of: "file"), data.status(of: "file"))
    _ = try directory.write("content", as: "file")
    #expect(data.birthTime(of: "file") == birth, "written in place")
    #expect(data.status(of: "file") == status)
    data.remove("file")
    try data.create("file")
    #expect(birth == nil || data.birthTime(of: "file") != birth)
  }
}
