internal import CProcess
internal import Glibc

/// The resources that this process uses (proc(5), getrusage(2)).
public struct ProcessUsage: Sendable, Equatable {
  /// Resident memory in bytes (`VmRSS`); nil when /proc is not readable.
  public var residentBytes: Int?
  /// Open file descriptors; nil when /proc is not readable.
  public var openDescriptors: Int?
  /// The maximum number of open descriptors (`RLIMIT_NOFILE`, soft).
  public var descriptorLimit: UInt64
  /// CPU time of all threads, in seconds.
  public var processorSeconds: Double

  /// The current usage; counting many thousand descriptors takes some milliseconds.
  public static var current: ProcessUsage {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return ProcessUsage(
      residentBytes: residentBytes, openDescriptors: openDescriptors, descriptorLimit: maximumDescriptors,
      processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime))
  }

  /// The maximum number of open descriptors (`RLIMIT_NOFILE`, soft).
  public static var maximumDescriptors: UInt64 {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return UInt64(limit.rlim_cur)
  }

  /// Why this process cannot have `count` more threads at the same time; nil if it can.
  ///
  /// It starts them to find out. All of them have ended when this returns.
  public static func obstacle(toThreads count: Int) -> String? {
    let code = startCode(threads: count)
    switch code {
    case 0: return nil
    // RLIMIT_NPROC and pids.max.
    case EAGAIN: return "\(count) threads are required; see ulimit -u, and pids.max of the control group"
    // glibc creates threads by clone(2) only if clone3(2) is not implemented (ENOSYS).
    case EPERM:
      return "threads cannot be created: clone3(2) is not permitted; use a container runtime that knows it"
    default:
      return "threads cannot be created: \(unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)")"
    }
  }

  /// Starts threads, and waits for their end.
  ///
  /// - Returns: the errno of the one that could not be started; 0 for none.
  private static func startCode(threads count: Int) -> Int32 {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { unsafe lock.deallocate() }
    unsafe pthread_mutex_init(lock, nil)
    unsafe pthread_mutex_lock(lock)
    var threads: [pthread_t] = []
    var code: Int32 = 0
    while code == 0, threads.count < count {
      var thread = pthread_t()
      code = unsafe pthread_create(&thread, nil, waitForRelease, lock)
      if code == 0 { threads.append(thread) }
    }
    unsafe pthread_mutex_unlock(lock)
    for thread in threads { pthread_join(thread, nil) }
    unsafe pthread_mutex_destroy(lock)
    return code
  }

  private static var residentBytes: Int? {
    // Fields: total pages, resident pages, shared pages …
    let words = text(of: "/proc/self/statm")?.split(separator: " ")
    guard let words, words.count > 1, let pages = Int(words[1]) else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  private static var openDescriptors: Int? {
    guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // ".", ".." and the directory itself.
    return count - 3
  }

  /// The start time of the process, in seconds since 1970; nil when /proc is not readable.
  ///
  /// Read it once: the result changes when the system clock is set.
  public static var startTime: Double? {
    // The program's name is in parentheses and may contain any character.
    guard let stat = text(of: "/proc/self/stat"), let end = stat.lastIndex(of: ")") else { return nil }
    // The 22nd field: clock ticks since boot. The name is the second field.
    let words = stat[end...].dropFirst(2).split(separator: " ")
    guard words.count > 19, let ticks = Double(words[19]) else { return nil }
    return clock(CLOCK_REALTIME) - clock(CLOCK_BOOTTIME) + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private static func clock(_ clock: clockid_t) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// A file of /proc as text; these files are far shorter than the limit.
  private static func text(of path: String) -> String? {
    (try? FileReader.bytes(of: path, limit: 65536)).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The start routine of a test thread: blocks until the mutex is unlocked.
private func waitForRelease(_ lock: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let lock = unsafe lock?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
  unsafe pthread_mutex_lock(lock)
  unsafe pthread_mutex_unlock(lock)
  return nil
}
