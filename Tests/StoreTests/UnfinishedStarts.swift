import Glibc
import TestSupport
import Testing

/// A data directory, a disk that can fail, and starts of the program that end while they open the database.
final class UnfinishedStarts {
  let fixture: StoreFixture
  let disk: FaultyDisk
  /// Clients may not contact this machine by default.
  let policy = "policy: { allow: ['127.0.0.0/8'] }\n"

  init() throws {
    fixture = try StoreFixture()
    disk = try FaultyDisk()
  }

  var names: [String] { fixture.data.names }

  /// The databases that were set aside, without their logs.
  var aside: [String] {
    names.filter { $0.hasPrefix("reachd.db.") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
  }

  /// The number of starts in the marker; nil if there is none.
  var marker: Int? {
    var status = stat()
    return unsafe lstat("\(fixture.data.path)/starting", &status) == 0 ? Int(status.st_size) : nil
  }

  /// Starts the program without waiting.
  func launch(_ configuration: String? = nil, _ arguments: [String] = []) throws -> Child {
    try StoreDaemon.launch(
      fixture, fixture.data.path, configuration ?? policy, disk.environment(fixture), arguments)
  }

  /// Starts the program and waits until it is ready.
  func start(_ configuration: String? = nil, arguments: [String] = []) throws -> StoreDaemon {
    try fixture.start(
      configuration: configuration ?? policy, environment: disk.environment(fixture), arguments: arguments)
  }

  /// Ends a start by SIGKILL while its first write to the database waits for the disk; `count` is the marker by then.
  func kill(at count: Int, _ configuration: String? = nil) throws {
    try disk.begin("hold")
    let child = try launch(configuration)
    #expect(eventually { marker == count }, "\(marker ?? -1): \(child.errors)")
    // The write follows the marker, and opens the database.
    #expect(
      eventually { hasDatabaseOpen(child) }, "\(child.errors)")
    child.kill()
    #expect(try child.wait() == .killed(SIGKILL), "\(child.errors)")
    disk.end()
  }

  private func hasDatabaseOpen(_ child: Child) -> Bool {
    let links = (0..<64).compactMap { number -> String? in
      var path = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink("/proc/\(child.id)/fd/\(number)", &path, path.count)
      return count < 0 ? nil : String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return links.contains { $0.hasSuffix("/reachd.db") }
  }

  /// Makes every read of the present database have an effect, also in the process that reads it after it was set aside.
  func poison(_ effect: String, from read: Int = 1) throws {
    try fixture.emptyLog()
    var status = stat()
    #expect(unsafe stat("\(fixture.data.path)/reachd.db", &status) == 0)
    try disk.begin("read \(status.st_ino) \(read) \(effect)")
  }

  /// Waits for a start that ends by itself.
  @discardableResult
  func crash() throws -> Child {
    let child = try launch()
    #expect(try child.wait() == .killed(SIGSEGV), "\(child.errors)")
    return child
  }

  /// Registers targets at a service, and ends it.
  func register(_ targets: Int = 1) throws {
    let daemon = try start()
    for number in 0..<targets {
      let labels = #"{"note": "\#(String(repeating: "x", count: 60))", "number": "\#(number)"}"#
      let body = #"{"id": "t\#(number)", "target": "tcp://127.0.0.1:9", "interval": "1h", "labels": \#(labels)}"#
      #expect(try daemon.send("POST", "/targets", body).status == 201)
    }
    try daemon.terminate()
  }

  /// The lines of the check `store` in `/readyz?verbose`.
  func warning(_ daemon: StoreDaemon) throws -> String {
    let answer = try daemon.get("/readyz?verbose")
    #expect(answer.status == 200)
    return answer.text.split(separator: "\n").filter { $0.contains(" store ") }.joined()
  }

  /// The value of `reachd_store_set_aside`.
  func metric(_ daemon: StoreDaemon) throws -> String? {
    try daemon.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix("reachd_store_set_aside ") }
      .map { String($0.dropFirst("reachd_store_set_aside ".count)) }
  }

  /// The content of a file in the directory.
  func bytes(_ name: String) throws -> [UInt8] {
    let descriptor = unsafe open("\(fixture.data.path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestError("\(name): \(errno)") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64 << 20)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return Array(bytes.prefix(max(0, count)))
  }
}
