internal import Glibc

/// The limit of open files of this process (getrlimit(2), RLIMIT_NOFILE).
public enum DescriptorLimit {
  /// The most that is asked for: above a million the kernel's own tables cost memory for nothing.
  private static let most: rlim_t = 1 << 20

  /// Raises the soft limit as far as the hard one allows.
  ///
  /// Call it before anything is sized by the limit. A refusal leaves the limit as it is.
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
