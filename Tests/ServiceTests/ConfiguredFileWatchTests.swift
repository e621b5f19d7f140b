import Dispatch
import EventLoop
import Glibc
import Locks
import TestSupport
import Testing

@testable import Service

@Suite("Watch of configured files")
struct ConfiguredFileWatchTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

  /// Watches files while a test changes them, and returns the number of reports.
  @discardableResult
  private func reports(
    of names: [String], since signatures: [String: FileSignature] = [:], _ change: () throws -> Void
  ) throws -> Int {
    let queue = DispatchQueue(label: "watch")
    let paths = names.map(path)
    let count = Locked(0)
    let watch = ConfiguredFileWatch(queue, since: signatures) {
      paths
    } changed: {
      count.withLock { $0 += 1 }
    }
    let sources = watch.start()
    try change()
    #expect(eventually { count.withLock { $0 } > 0 })
    for source in sources { source.cancel() }
    queue.sync {}
    return count.withLock(\.self)
  }

  @Test("Changes in quick succession are one report")
  func quick() throws {
    for name in ["certificate", "key"] { _ = try directory.write("old", as: name) }
    let count = try reports(of: ["certificate", "key"]) {
      for name in ["certificate", "key"] { _ = try directory.write("another", as: name) }
    }
    #expect(count == 1)
  }

  @Test("A change between reading and the start is reported")
  func early() throws {
    let file = try directory.write("old", as: "key")
    let signature = FileSignature(file)
    _ = try directory.write("another", as: "key")
    try reports(of: ["key"], since: [file: signature]) {}
  }

  @Test("A file that appears is reported")
  func appearing() throws {
    try reports(of: ["key"]) { _ = try directory.write("new", as: "key") }
  }

  @Test("A file that disappears is reported")
  func disappearing() throws {
    let file = try directory.write("old", as: "key")
    try reports(of: ["key"]) { _ = unsafe unlink(file) }
  }

  @Test("A symbolic link with another target is reported")
  func link() throws {
    let (old, new) = (try directory.write("old", as: "1"), try directory.write("newer", as: "2"))
    #expect(unsafe symlink(old, path("key")) == 0)
    try reports(of: ["key"]) {
      // As the kubelet replaces the content of a volume.
      #expect(unsafe symlink(new, path("next")) == 0)
      #expect(unsafe rename(path("next"), path("key")) == 0)
    }
  }
}
