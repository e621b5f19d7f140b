internal import Glibc

/// The limit of open files of this process (getrlimit(2), RLIMIT_NOFILE).
public enum ProcessDescriptorLimit {
  /// The highest limit that is set: above a million, the kernel's descriptor tables cost memory without use.
  private static let most: rlim_t = 1 << 20

  /// Raises the soft limit to the hard limit.
  ///
  /// Call it before the limit is used to size anything. If the kernel refuses, the limit stays unchanged.
  public static func raise() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0 else { return }
    let wanted = min(limit.rlim_max, most)
    guard wanted > limit.rlim_cur else { return }
    limit.rlim_cur = wanted
    unsafe setrlimit(resource, &limit)
  }
}
