import Glibc
import TestSupport
import Testing

@testable import Database

@Suite("Small files of a data directory")
struct DataDirectoryFileTests {
  private let data: TemporaryDirectory
  private let file: DataDirectoryFile

  init() throws {
    data = try TemporaryDirectory()
    file = DataDirectoryFile("file", in: data.path)
  }

  @Test("A file has a size without content, and mode 0600")
  func size() throws {
    #expect(file.size == 0 && !file.exists)
    try file.resize(to: 3)
    #expect(file.size == 3 && file.exists)
    var status = stat()
    #expect(unsafe stat(file.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600 && status.st_blocks == 0)
    try file.remove()
    try file.remove()
    #expect(!file.exists)
  }

  @Test("The end of a text is read up to a limit")
  func text() throws {
    #expect(try file.text(atMost: 10) == nil)
    try file.append("one\n")
    try file.append("two\n")
    #expect(try file.text(atMost: 100) == "one\ntwo\n")
    #expect(try file.text(atMost: 4) == "two\n")
    #expect(try file.text(atMost: 0) == "")
  }

  @Test("No link is followed, and no other file is changed")
  func links() throws {
    let other = try data.write("precious", as: "other")
    for isSymbolic in [false, true] {
      func makeLink() { #expect(unsafe (isSymbolic ? symlink(other, file.path) : link(other, file.path)) == 0) }
      makeLink()
      try file.resize(to: 1)
      #expect(file.size == 1)
      try file.remove()
      makeLink()
      try file.append("x")
      #expect(try file.text(atMost: 10) == "x")
      try file.remove()
    }
    #expect(try DataDirectoryFile("other", in: data.path).text(atMost: 100) == "precious")
    #expect(unsafe symlink(other, file.path) == 0)
    #expect(throws: DatabaseFileError.self) { try file.text(atMost: 10) }
  }

  @Test("A pipe does not block, and a directory is an error")
  func others() throws {
    #expect(unsafe mkfifo(file.path, 0o600) == 0)
    #expect(file.size == 0)
    #expect(throws: DatabaseFileError.self) { try file.text(atMost: 10) }
    try file.resize(to: 2)
    #expect(file.size == 2)
    try file.remove()
    #expect(unsafe mkdir(file.path, 0o700) == 0)
    #expect(throws: DatabaseFileError.self) { try file.resize(to: 1) }
    #expect(throws: DatabaseFileError.self) { try file.append("x") }
    #expect(throws: DatabaseFileError.self) { try file.remove() }
  }

  @Test("Renaming replaces no file, omits those that do not exist, and records before a name is removed")
  func renaming() throws {
    let directory = try #require(try DataDirectory(locking: data.path))
    for name in ["a", "b"] { _ = try data.write(name, as: name) }
    #expect(unsafe mkdir("\(data.path)/d", 0o700) == 0)
    let names = ["a", "c", "d"].map { (present: $0, new: "new-\($0)") }
    var recorded: [String] = []
    try directory.rename(names) { recorded = data.names }
    #expect(recorded == ["a", "b", "d", "lock", "new-a"])
    #expect(data.names == ["b", "lock", "new-a", "new-d"])
    _ = try data.write("other", as: "a")
    #expect(throws: DatabaseFileError.self) { try directory.rename(names) {} }
    #expect(try DataDirectoryFile("new-a", in: data.path).text(atMost: 10) == "a")
    #expect(unsafe mkdir("\(data.path)/d", 0o700) == 0)
    #expect(throws: DatabaseFileError.self) { try directory.rename([("d", "new-d")]) {} }
    #expect(data.names == ["a", "b", "d", "lock", "new-a", "new-d"])
  }
}
