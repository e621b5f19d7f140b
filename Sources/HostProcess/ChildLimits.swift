internal import CProcess
internal import Glibc

/// What a process that ``ChildProgram`` has started does with itself before it reads what may harm it.
public enum ChildLimits {
  /// Limits this process, permanently: its memory, its CPU time, its privileges and its lifetime.
  ///
  /// - Parameters:
  ///   - memory: the bytes that it may allocate from now on.
  ///   - time: the CPU time that it may use.
  ///   - parent: the process that has started it, with which it ends.
  public static func apply(memory: Int, time: Duration, parent: Int32) {
    _ = CProcess_end_with_parent(SIGKILL)
    // The parent may have ended before.
    guard getppid() == parent else { ChildProgram.end(1) }
    _ = Privileges.drop()
    // RLIMIT_DATA and not RLIMIT_AS: libraries and the sanitizers map far more addresses than they use.
    limit(RLIMIT_DATA.rawValue, to: UInt64(dataBytes + memory))
    limit(RLIMIT_CPU.rawValue, to: UInt64(max(1, time.components.seconds)))
    // A core dump would contain the credentials of targets.
    limit(RLIMIT_CORE.rawValue, to: 0)
    // When the memory of the control group ends, the kernel must not choose the service.
    raiseOOMScore()
  }

  /// Sets the highest `oom_score_adj` (proc(5)); a process may always raise its own.
  private static func raiseOOMScore() {
    let descriptor = unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = StandardStreams.write(Array("1000".utf8), to: descriptor)
    close(descriptor)
  }

  private static func limit(_ resource: UInt32, to value: UInt64) {
    var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
    unsafe setrlimit(__rlimit_resource_t(resource), &limit)
  }

  /// The bytes of data and stack that the process has already; a generous number when /proc is not readable.
  private static var dataBytes: Int {
    // Fields: total, resident, shared, text, library, data and stack, in pages.
    let words = (try? FileReader.bytes(of: "/proc/self/statm", limit: 4_096)).map {
      String(decoding: $0, as: UTF8.self).split(separator: " ")
    }
    guard let words, words.count > 5, let pages = Int(words[5]) else { return 256 << 20 }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
