internal import Glibc

/// The number of concurrent checks with a socket of their own in one prober; the others wait in its queue.
enum ProberSocketCapacity {
  /// The capacity under a limit of open files.
  static func of(descriptorLimit limit: Int) -> Int {
    max(1, min(Limits.socketsOpen, (limit - Limits.descriptorsReserved) / Limits.probers))
  }

  /// The capacity under the soft limit of this process (getrlimit(2)), read when a prober's thread starts.
  static var current: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1 }
    return of(descriptorLimit: Int(clamping: limit.rlim_cur))
  }
}
