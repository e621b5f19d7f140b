import Glibc

/// Framing fields and a body behind a fixed request line: no input costs the server's thread much processor time.
enum FramingTarget {
  /// Nanoseconds that an exchange may cost, whatever its size: two connections under the sanitizer.
  private static let floor = 50_000_000
  /// Nanoseconds that it may cost for each KiB.
  private static let nanosecondsPerKiB = 10_000_000

  static func play(_ bytes: [UInt8]) {
    let request = Array("POST / HTTP/1.1\r\nHost: a\r\n".utf8) + bytes
    let before = serverTime()
    WireTarget.play(request)
    let spent = serverTime() - before
    let limit = floor + nanosecondsPerKiB * request.count / 1024
    precondition(
      spent <= limit, "\(request.count) bytes cost \(spent) ns of processor time, at most \(limit) are right")
  }

  /// Nanoseconds that the server's thread has run (Linux, Documentation/scheduler/sched-stats.rst).
  private static func serverTime() -> Int {
    WireTarget.start()
    guard let thread else { preconditionFailure("no thread is named http") }
    let text = read("/proc/self/task/\(thread)/schedstat")
    guard let time = text.split(separator: " ").first.flatMap({ Int($0) }) else {
      preconditionFailure("no time in schedstat: \(text)")
    }
    return time
  }

  /// The number of the server's thread.
  private static let thread: String? = {
    guard let directory = opendir("/proc/self/task") else { return nil }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if read("/proc/self/task/\(name)/comm") == "http\n" { return name }
    }
    return nil
  }()

  private static func read(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 256)
    return String(decoding: buffer[..<max(0, Glibc.read(file, &buffer, buffer.count))], as: UTF8.self)
  }
}
