/// The memory limit of this process's control group (cgroups(7)).
public enum CgroupMemory {
  /// The longest file that is read, in bytes; a number, or one line per hierarchy, is far shorter.
  private static let fileByteLimit = 1 << 16
  /// The smallest value that means no limit: cgroup v1 writes 2^63 minus one page.
  private static let unlimited = 1 << 60

  /// The smallest limit of the process's group and its ancestors, in bytes; nil for no limit.
  ///
  /// In a container, `/proc/self/cgroup` may contain a path of the host that is not mounted. Then the limits of the
  /// ancestors that are mounted apply.
  ///
  /// - Parameter root: a prefix for `/proc` and `/sys`, for tests.
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

  /// The smallest value of a file in a group and in its ancestors up to the mount point.
  private static func smallest(_ file: String, of path: Substring, under mount: String) -> Int? {
    var segments = path.split(separator: "/").filter { $0 != ".." }
    var limits: [Int] = []
    while true {
      let group = segments.isEmpty ? mount : mount + "/" + segments.joined(separator: "/")
      if let limit = number(group + "/" + file) { limits.append(limit) }
      if segments.popLast() == nil { return limits.min() }
    }
  }

  /// The number in a file; nil for `max` and for a missing file.
  private static func number(_ path: String) -> Int? {
    let digits = text(path).map { $0.prefix { $0 != "\n" } }
    return digits.flatMap { Int($0) }.flatMap { (0..<unlimited).contains($0) ? $0 : nil }
  }

  private static func text(_ path: String) -> String? {
    (try? FileReader.bytes(of: path, limit: fileByteLimit, blocking: false)).map { String(decoding: $0, as: UTF8.self) }
  }
}
