internal import CNetlink
internal import Glibc
internal import Locks

/// A child process whose outputs are collected while it runs.
///
/// It is killed with its last reference.
public final class Child: Sendable {
  /// How a process ended.
  public enum End: Hashable, Sendable {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case killed(Int32)
  }

  /// The process id.
  public let id: Int32
  private let collector: OutputCollector
  private let end = Locked<End?>(nil)

  /// Starts a program on the calling thread, and so in its network namespace.
  ///
  /// - Parameters:
  ///   - path: the program's file.
  ///   - arguments: without the program's name.
  ///   - environment: all variables; nil for our own.
  ///   - input: what it can read from its standard input; nil for nothing.
  ///   - isUnblocked: whether no signal is blocked; threads of Dispatch, on which tests run, block most.
  /// - Throws: a ``TestError`` when it cannot be started.
  public init(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String? = nil,
    isUnblocked: Bool = false
  ) throws(TestError) {
    let source = try Self.inputFile(input)
    defer { close(source) }
    let output = try Self.makePipe()
    let errors = try Self.makePipe()
    defer {
      close(output.writing)
      close(errors.writing)
    }
    collector = OutputCollector(output: output.reading, errors: errors.reading)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, source, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors.writing, 2)
    // Tests in the background may ignore interrupts, which the program must receive.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    let flags = POSIX_SPAWN_SETSIGDEF | (isUnblocked ? POSIX_SPAWN_SETSIGMASK : 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let ours = environment == nil
    let variables = (environment ?? [:]).map { "\($0.key)=\($0.value)" }
    var process: pid_t = 0
    let code = unsafe Self.withCStrings([path] + arguments) { argv in
      unsafe Self.withCStrings(variables) { envp in
        unsafe posix_spawn(&process, path, &actions, &attributes, argv, ours ? CNetlink_environment() : envp)
      }
    }
    guard code == 0 else { throw .system("posix_spawn \(path)", code) }
    id = process
    collector.start()
  }

  deinit {
    if poll() == nil {
      kill()
      _ = try? wait()
    }
  }

  /// What it wrote to its standard output so far.
  public var output: String { collector.output }

  /// What it wrote to its standard error so far.
  public var errors: String { collector.errors }

  /// Sends a signal.
  public func kill(_ signal: Int32 = 9) {
    // A reaped process's id may be another's.
    end.withLock { end in if end == nil { _ = Glibc.kill(id, signal) } }
  }

  /// How it ended; nil while it runs.
  public func poll() -> End? {
    end.withLock { end in
      if end == nil {
        var status: Int32 = 0
        if unsafe waitpid(id, &status, WNOHANG) == id {
          let signal = status & 0x7f
          end = signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
        }
      }
      return end
    }
  }

  /// Waits for its end and the rest of its output.
  ///
  /// - Throws: a ``TestError`` when it still runs at the deadline; it is killed then.
  @discardableResult
  public func wait(within deadline: Duration = .seconds(30)) throws(TestError) -> End {
    guard eventually(within: deadline, { self.poll() != nil }), let end = poll() else {
      kill()
      throw TestError("process \(id) still runs after \(deadline): \(errors)")
    }
    // A grandchild may keep the pipes open; its output is not waited for long.
    eventually(within: .seconds(2)) { self.collector.isAtEnd }
    return end
  }

  private static func makePipe() throws(TestError) -> (reading: Int32, writing: Int32) {
    var ends: (Int32, Int32) = (0, 0)
    let code = unsafe withUnsafeMutableBytes(of: &ends) {
      unsafe pipe2($0.baseAddress?.assumingMemoryBound(to: Int32.self), O_CLOEXEC)
    }
    guard code == 0 else { throw .system("pipe2") }
    return ends
  }

  /// A file in memory, which the child reads without help.
  private static func inputFile(_ text: String?) throws(TestError) -> Int32 {
    let file = unsafe memfd_create("input", 1)
    guard file >= 0 else { throw .system("memfd_create") }
    let bytes = Array((text ?? "").utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe write(file, $0.baseAddress, $0.count) }) == bytes.count else {
      throw .system("write")
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
    for (index, string) in strings.enumerated() { unsafe (pointers + index).initialize(to: strdup(string)) }
    unsafe (pointers + strings.count).initialize(to: nil)
    defer {
      for index in strings.indices { unsafe free(pointers[index]) }
      unsafe pointers.deallocate()
    }
    return unsafe body(pointers)
  }
}
