internal import CProcess
internal import Glibc

/// The program of this process in another process, which may crash, hang or need too much memory without harm to this one.
public enum ChildProgram {
  /// What another process has written to its standard output, and why there may be more.
  public struct Output: Sendable, Equatable {
    /// The bytes.
    public var bytes: [UInt8] = []
    /// Why the process was not started, or was killed; nil if it ended by itself.
    public var problem: String?
  }

  /// The file of this process, also after it was replaced or deleted.
  private static let path = "/proc/self/exe"

  /// Runs this program with other arguments until it ends, and kills it at a limit.
  ///
  /// It inherits the environment and standard error. Its exit status is not reported: where SIGCHLD is ignored
  /// (``ProcessSignals/reapOrphans()``) there is none. So its last bytes must say that the output is complete.
  ///
  /// - Parameters:
  ///   - arguments: the arguments, without the program's name.
  ///   - timeLimit: the time after which it is killed.
  ///   - byteLimit: the size of the output, in bytes, beyond which it is killed.
  /// - Returns: what it has written.
  public static func output(of arguments: [String], timeLimit: Duration, byteLimit: Int) -> Output {
    output(of: path, arguments, timeLimit, byteLimit)
  }

  static func output(of path: String, _ arguments: [String], _ timeLimit: Duration, _ byteLimit: Int) -> Output {
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    guard unsafe CProcess_pipe(&ends.reading, &ends.writing, O_CLOEXEC) == 0 else {
      return Output(problem: "pipe2: \(unsafe String(cString: strerror(errno)))")
    }
    defer { close(ends.reading) }
    var process: pid_t = 0
    let failure = spawn(path, arguments, output: ends.writing, &process)
    close(ends.writing)
    guard failure == 0 else { return Output(problem: "posix_spawn: \(unsafe String(cString: strerror(failure)))") }
    let output = read(ends.reading, timeLimit, byteLimit)
    // Only while it has the other end of the pipe: otherwise its id may be another process's.
    if output.problem != nil { kill(process, SIGKILL) }
    // Without a wait: a process that waits for the disk cannot be killed. Where SIGCHLD is ignored there is nothing to reap.
    for _ in 0..<reapAttempts {
      guard waitpid(process, nil, WNOHANG) == 0 else { break }
      usleep(1_000)
    }
    return output
  }

  /// The id of this process, for the arguments of a child (``ChildLimits``).
  public static var parent: Int32 { getpid() }

  /// Ends a process that this type has started.
  public static func end(_ status: Int32) -> Never { _exit(status) }

  /// Attempts to reap a process that has ended or was killed, one per millisecond; it needs microseconds for its end.
  private static let reapAttempts = 100

  private static func spawn(
    _ path: String, _ arguments: [String], output: Int32, _ process: inout pid_t
  ) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The service blocks and ignores signals that must end the child.
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var words = unsafe ([CommandLine.arguments.first ?? path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    return unsafe posix_spawn(&process, path, &actions, &attributes, &words, environ)
  }

  private static func read(_ descriptor: Int32, _ timeLimit: Duration, _ byteLimit: Int) -> Output {
    var output = Output()
    let end = ContinuousClock.now + timeLimit
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let left = end - ContinuousClock.now
      guard left > .zero else {
        output.problem = "it did not end within \(timeLimit.components.seconds) s"
        return output
      }
      var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // In steps, so that the waiting thread shows progress.
      let milliseconds = min(
        100, left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
      guard unsafe poll(&waited, 1, Int32(milliseconds)) > 0 else { continue }
      let count = unsafe Glibc.read(descriptor, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return output }
      output.bytes += block.prefix(count)
      guard output.bytes.count <= byteLimit else {
        output.problem = "its output has more than \(byteLimit) bytes"
        return output
      }
    }
  }
}
