internal import CProcess
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
  /// The descriptors that were open; nil if they cannot be listed.
  private let descriptors: [UInt32]?

  /// Records the state; call it on the only thread, before anything of it is changed.
  public init() {
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
    self.mask = mask
    ignored = Set(Self.signals.filter(ProcessSignals.isIgnored))
    var limit = rlimit()
    descriptorLimit = unsafe getrlimit(Self.openFiles, &limit) == 0 ? limit : nil
    descriptors = Self.openDescriptors()
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
    if var limit = descriptorLimit { unsafe setrlimit(Self.openFiles, &limit) }
    // Handlers stay until execve(2) removes them, so that the first process of a container does not ignore a signal.
    for number in Self.signals where ProcessSignals.isIgnored(number) != ignored.contains(number) {
      signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL)
    }
    closeOthersOnExecution()
    var mask = mask
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    unsafe execvp(name, CommandLine.unsafeArgv + first)
    return Failure(code: errno)
  }

  /// Makes all descriptors close-on-exec but the inherited ones.
  ///
  /// Nearly all are, but libraries set the flag after socket(2) in some cases, and other threads still open sockets.
  private func closeOthersOnExecution() {
    guard let descriptors else { return }
    // From the first call on, other threads have another table of descriptors.
    var flags = CProcess_close_range_unshare | CProcess_close_range_cloexec
    var first: UInt32 = 0
    for descriptor in descriptors + [.max] {
      if first < descriptor {
        guard CProcess_close_range(first, descriptor - 1, flags) == 0 else { return closeOthersSingly(descriptors) }
        flags = CProcess_close_range_cloexec
      }
      first = descriptor &+ 1
    }
  }

  /// The same before Linux 5.11.
  private func closeOthersSingly(_ descriptors: [UInt32]) {
    for descriptor in Self.openDescriptors() ?? [] where !descriptors.contains(descriptor) {
      _ = fcntl(Int32(descriptor), F_SETFD, FD_CLOEXEC)
    }
  }

  /// The open descriptors in order; nil if they cannot be listed.
  private static func openDescriptors() -> [UInt32]? {
    guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(directory) }
    let own = unsafe dirfd(directory)
    var found: [UInt32] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if let number = UInt32(name), number != UInt32(bitPattern: own) { found.append(number) }
    }
    return found.sorted()
  }

  private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  /// The numbers of all signals (signal(7)); those that a process cannot change are skipped by sigaction(2).
  private static let signals: ClosedRange<Int32> = 1...64
}
