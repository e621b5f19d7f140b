internal import Glibc

/// What this process has inherited from its parent and changes for itself, for a program that replaces it (execve(2)).
///
/// The program gets it as if this process had not been there: signals, the limit of open files, closed standard streams.
public struct InheritedProcessState: @unchecked Sendable {
  /// Why a program could not replace this process.
  public struct Failure: Error, Equatable {
    /// The errno of execve(2).
    public let code: Int32

    /// Whether there is no such file; for a shell, this is another exit status than that of a file without permission.
    public var isNotFound: Bool { [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(code) }
    /// The text for the errno.
    public var message: String { unsafe String(cString: strerror(code)) }
  }

  private let mask: sigset_t
  private let ignored: Set<Int32>
  private let descriptorLimit: rlimit?
  private let closedStreams: [Int32]

  /// Records the state; call it on the only thread, before anything of it is changed.
  public init() {
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
    self.mask = mask
    ignored = Set(Self.signals.filter(ProcessSignals.isIgnored))
    var limit = rlimit()
    descriptorLimit = unsafe getrlimit(Self.openFiles, &limit) == 0 ? limit : nil
    closedStreams = (0...2).filter { fcntl($0, F_GETFD) < 0 }
  }

  /// Replaces this process by the program that its last arguments name, which is searched for as a shell does.
  ///
  /// The arguments are passed as they were received, also if they are not valid UTF-8. The kernel keeps some attributes
  /// per thread, such as the signal at the end of the parent (PR_SET_PDEATHSIG), and the program gets those of the calling
  /// thread: call it on the first one.
  ///
  /// - Parameters:
  ///   - first: the index of the program's name among the arguments of this process.
  ///   - variable: a variable to add to the environment.
  /// - Returns: why this process continues.
  public func execute(argumentsFrom first: Int, adding variable: (name: String, value: String)) -> Failure {
    guard first < CommandLine.argc, let name = unsafe CommandLine.unsafeArgv[first] else {
      return Failure(code: ENOENT)
    }
    unsafe setenv(variable.name, variable.value, 1)
    for stream in closedStreams { _ = fcntl(stream, F_SETFD, FD_CLOEXEC) }
    if var limit = descriptorLimit { unsafe setrlimit(Self.openFiles, &limit) }
    // Handlers stay until execve(2) removes them, so that the first process of a container does not ignore a signal.
    for number in Self.signals where ProcessSignals.isIgnored(number) != ignored.contains(number) {
      signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL)
    }
    var mask = mask
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    unsafe execvp(name, CommandLine.unsafeArgv + first)
    return Failure(code: errno)
  }

  private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  /// The numbers of all signals (signal(7)); those that a process cannot change are skipped by sigaction(2).
  private static let signals: ClosedRange<Int32> = 1...64
}
