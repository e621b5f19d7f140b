import Glibc
import TestSupport
import Testing

@testable import EventLoop

/// A directory of its own for one test, removed with it.
private final class Directory {
  let name = "probes-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
  var path: String { "/tmp/\(name)" }

  init() throws { guard unsafe mkdir(path, 0o755) == 0 else { throw Loopback.Failure(operation: "mkdir") } }

  deinit { _ = try? Child("/bin/rm", ["-rf", path]).wait() }

  func write(_ name: String, _ text: String) throws {
    guard let file = unsafe fopen("\(path)/\(name)", "w") else { throw Loopback.Failure(operation: "fopen") }
    unsafe fputs(text, file)
    unsafe fclose(file)
  }

  func make(_ name: String) throws {
    guard unsafe mkdir("\(path)/\(name)", 0o755) == 0 else { throw Loopback.Failure(operation: "mkdir") }
  }

  func link(_ name: String, to target: String) throws {
    // As ln -sfn does: a new link, which is then renamed.
    guard unsafe symlink(target, "\(path)/.new") == 0 else { throw Loopback.Failure(operation: "symlink") }
    try move(".new", to: name)
  }

  func remove(_ name: String) { unsafe unlink("\(path)/\(name)") }

  func move(_ name: String, to other: String) throws {
    guard unsafe rename("\(path)/\(name)", "\(path)/\(other)") == 0 else { throw Loopback.Failure(operation: "rename") }
  }
}

@Suite struct FileWatcherTests {
  private func isReadable(_ watch: FileWatcher) -> Bool {
    var file = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&file, 1, 20_000) == 1
  }

  /// The watch reports what `change` does, and nothing else.
  private func tells(_ watch: FileWatcher, _ change: () throws -> Void) throws -> Bool {
    try change()
    guard isReadable(watch), watch.checkForChanges() else { return false }
    return !watch.checkForChanges()
  }

  @Test func aFileThatIsWrittenInPlace() throws {
    let directory = try Directory()
    try directory.write("resolv.conf", "one")
    let watch = FileWatcher(["\(directory.path)/resolv.conf"])
    #expect(!watch.checkForChanges())
    #expect(try tells(watch) { try directory.write("resolv.conf", "another") })
    #expect(try tells(watch) { try directory.write("resolv.conf", "a third one") })
  }

  @Test func aFileThatIsReplaced() throws {
    let directory = try Directory()
    try directory.write("hosts", "one")
    let watch = FileWatcher(["\(directory.path)/hosts"])
    for text in ["two", "three", "four"] {
      try directory.write("new", text)
      _ = watch.checkForChanges()
      #expect(try tells(watch) { try directory.move("new", to: "hosts") })
    }
  }

  @Test func aFileThatComesGoesAndComes() throws {
    let directory = try Directory()
    let watch = FileWatcher(["\(directory.path)/run/resolve/resolv.conf"])
    #expect(!watch.checkForChanges())
    try directory.make("run")
    #expect(isReadable(watch) && !watch.checkForChanges(), "a directory on the way is no change of the file")
    try directory.make("run/resolve")
    #expect(isReadable(watch) && !watch.checkForChanges())
    #expect(try tells(watch) { try directory.write("run/resolve/resolv.conf", "one") })
    #expect(try tells(watch) { directory.remove("run/resolve/resolv.conf") })
    #expect(try tells(watch) { try directory.write("run/resolve/resolv.conf", "one") })
  }

  @Test func aLinkAsSystemdResolvedMakesIt() throws {
    let directory = try Directory()
    for name in ["etc", "run"] { try directory.make(name) }
    try directory.write("run/stub.conf", "stub")
    try directory.write("run/resolv.conf", "uplink")
    try directory.link("etc/resolv.conf", to: "../run/stub.conf")
    let watch = FileWatcher(["\(directory.path)/etc/resolv.conf"])
    // Its target is replaced.
    try directory.write("run/new", "stub, changed")
    _ = watch.checkForChanges()
    #expect(try tells(watch) { try directory.move("run/new", to: "run/stub.conf") })
    // It points to another file.
    #expect(try tells(watch) { try directory.link("etc/resolv.conf", to: "../run/resolv.conf") })
    // That file is written.
    #expect(try tells(watch) { try directory.write("run/resolv.conf", "uplink, changed") })
  }

  @Test func aDirectoryThatIsALinkAsKubernetesMakesIt() throws {
    let directory = try Directory()
    for name in ["v1", "v2"] {
      try directory.make(name)
      try directory.write("\(name)/hosts", name)
    }
    try directory.link("data", to: "v1")
    try directory.link("hosts", to: "data/hosts")
    let watch = FileWatcher(["\(directory.path)/hosts"])
    #expect(try tells(watch) { try directory.link("data", to: "v2") })
  }

  @Test func otherFilesCanBeWatchedInPlace() throws {
    let directory = try Directory()
    try directory.write("one", "1")
    try directory.write("two", "2")
    let watch = FileWatcher(["\(directory.path)/one"])
    watch.watch(["\(directory.path)/two"])
    #expect(try tells(watch) { try directory.write("two", "22") })
    try directory.write("one", "11")
    #expect(!watch.checkForChanges())
  }

  @Test func linksInACircleEnd() throws {
    let directory = try Directory()
    try directory.link("a", to: "b")
    try directory.link("b", to: "a")
    let watch = FileWatcher(["\(directory.path)/a"])
    #expect(!watch.checkForChanges())
    let told = try tells(watch) {
      directory.remove("a")
      try directory.write("a", "one")
    }
    #expect(told)
  }

  @Test func unrelatedFilesWakeNoWatcherForLong() throws {
    let directory = try Directory()
    try directory.write("hosts", "one")
    let watch = FileWatcher(["\(directory.path)/hosts"])
    try directory.write("other", "two")
    #expect(isReadable(watch) && !watch.checkForChanges())
    for path in ["hosts", "./hosts", "../\(directory.name)/hosts"] {
      #expect(FileWatcher.directories(on: "\(directory.path)/\(path)").last == directory.path)
    }
  }
}
