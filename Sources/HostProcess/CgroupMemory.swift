/// The memory limit of this process's control group (cgroups(7)).
public enum CgroupMemory {
  /// A file of one number, or a list of a line for each hierarchy, is far below this many bytes.
  private static let fileByteLimit = 1 << 16
  /// Limits from here on are none: cgroup v1 writes 2^63 less a page for no limit.
  private static let unlimited = 1 << 60

  /// The smallest limit of the process's group and its ancestors, in bytes; nil for no limit.
  ///
  /// In a container, `/proc/self/cgroup` may name a path of the host that is not mounted; the ancestors that are
  /// mounted count then.
  ///
  /// - Parameter root: what stands before `/proc` and `/sys`, for tests.
  /// - Returns: the limit.
  public static func limit(root: String = "") -> Int? {
    let lines = text(root + "/proc/self/cgroup")?.split(separator: "\n") ?? []
    return lines.compactMap { line -> Int? in
      // hierarchy-ID:controller-list:cgroup-path
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return nil }
      if fields[0] == "0", fields[1].isEmpty {
        return smallest("memory.max", of: fields[2], under: root + "/sys/fs/cgroup")
      }
      guard fields[1].split(separator: ",").contains("memory") else { return nil }
      return smallest("memory.limit_in_bytes", of: fields[2], under: root + "/sys/fs/cgroup/memory")
    }.min()
  }

  /// The smallest value of a file in a group and in all its ancestors up to the mount.
  private static func smallest(_ file: String, of path: Substring, under mount: String) -> Int? {
    var segments = path.split(separator: "/").filter { $0 != ".." }
    var limits: [Int] = []
    while true {
      let group = segments.isEmpty ? mount : mount + "/" + segments.joined(separator: "/")
      if let limit = number(group + "/" + file) { limits.append(limit) }
      if segments.popLast() == nil { return limits.min() }
    }
  }

  /// The number in a file; nil for `max`, and when there is no such file.
  private static func number(_ path: String) -> Int? {
    let digits = text(path).map { $0.prefix { $0 != "\n" } }
    return digits.flatMap { Int($0) }.flatMap { (0..<unlimited).contains($0) ? $0 : nil }
  }

  private static func text(_ path: String) -> String? {
    (try? FileReader.bytes(of: path, limit: fileByteLimit, blocking: false)).map { String(decoding: $0, as: UTF8.self) }
  }
}
