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

  private func makeLink(_ name: String, to target: String) throws -> String {
    let path = "\(directory.path)/\(name)"
    guard unsafe symlink(target, path) == 0 else { throw TestError("symlink \(path): \(errno)") }
    return path
  }

  /// Where a data directory is reached through a link.
  enum LinkedPath: CaseIterable {
    case relative, absolute, chain, middle, trailingSlash, dots
  }

  @Test("A data directory behind symbolic links is used at its own path", arguments: LinkedPath.allCases)
  func linkedDirectory(_ kind: LinkedPath) throws {
    let real = directory.path + "/private/data"
    #expect(unsafe mkdir(directory.path + "/private", 0o700) == 0 && mkdir(real, 0o700) == 0)
    let path =
      switch kind {
      // As systemd makes one for DynamicUser=.
      case .relative: try makeLink("data", to: "private/data")
      case .absolute: try makeLink("data", to: real)
      case .chain: try makeLink("first", to: try makeLink("second", to: "private/data"))
      case .middle: try makeLink("parent", to: "private") + "/data"
      case .trailingSlash: try makeLink("data", to: "private/data") + "/"
      case .dots: try makeLink("parent", to: "private") + "/./data/../data//"
      }
    let opened = try #require(try DataDirectory(locking: path))
    #expect(opened.path == real)
    try opened.create("reachd.db")
    let connection = try DatabaseConnection(opened.path + "/reachd.db")
    try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
    #expect(opened.names.sorted() == ["lock", "reachd.db", "reachd.db-shm", "reachd.db-wal"])
    #expect(try DataDirectory(locking: real) == nil, "both paths have one lock")
  }

  @Test("A data directory is created below a linked parent")
  func createdBelowLink() throws {
    #expect(unsafe mkdir(directory.path + "/private", 0o700) == 0)
    let parent = try makeLink("parent", to: "private")
    let opened = try #require(try DataDirectory(locking: parent + "/new/"))
    #expect(opened.path == directory.path + "/private/new")
    #expect(mode(opened.path) == 0o700)
  }

  @Test("A link that is changed does not move an open data directory")
  func changedLink() throws {
    let path = try makeLink("data", to: "first")
    #expect(unsafe mkdir(directory.path + "/first", 0o700) == 0 && mkdir(directory.path + "/second", 0o700) == 0)
    let opened = try #require(try DataDirectory(locking: path))
    #expect(unsafe unlink(path) == 0)
    _ = try makeLink("data", to: "second")
    try opened.create("file")
    #expect(mode(directory.path + "/first/file") == 0o600)
    #expect(opened.names.sorted() == ["file", "lock"])
  }

  @Test("A link to nothing, to itself or to a file is an error that names its target")
  func unusableLinks() throws {
    let file = try directory.write("", as: "file")
    for (name, target, code) in [("nothing", "none", ENOENT), ("loop", "loop", ELOOP), ("linked", file, ENOTDIR)] {
      let path = try makeLink(name, to: target)
      let failure = #expect(throws: DatabaseFileError.self) { _ = try DataDirectory(locking: path) }
      #expect(failure?.errno == code)
      let words = name == "linked" ? "\(file): open: Not a directory" : "(it is a symbolic link to \(target))"
      #expect(failure?.description.contains(words) == true, "\(String(describing: failure))")
    }
  }

  @Test("A file of a data directory that is a symbolic link is refused, and the error names its target")
  func linkedFiles() throws {
    let file = try directory.write("", as: "other")
    _ = try makeLink("lock", to: "other")
    let lock = #expect(throws: DatabaseFileError.self) { _ = try DataDirectory(locking: directory.path) }
    #expect(lock?.description.contains("/lock: open: Too many levels of symbolic links (it is a symbolic") == true)
    let database = try makeLink("reachd.db", to: file)
    let failure = #expect(throws: DatabaseError.self) { _ = try DatabaseConnection(database) }
    #expect(failure?.isDenied == true)
    let words = "open \(database): unable to open database file: \(database) is a symbolic link to \(file) (1550)"
    #expect(failure?.description == words)
  }

  @Test("A write-ahead log that is a symbolic link is refused, and the error names its target")
  func linkedLog() throws {
    _ = try directory.write("", as: "other")
    let log = try makeLink("reachd.db-wal", to: "other")
    let failure = #expect(throws: DatabaseError.self) {
      let connection = try DatabaseConnection(directory.path + "/reachd.db")
      try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
    }
    #expect(failure?.message.contains("\(log) is a symbolic link to other") == true, "\(String(describing: failure))")
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
