import Foundation
import HostProcess
import Testing

/// The memory limit of a control group, read from a tree of files.
@Suite struct CgroupMemoryTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var group: String
    var files: [String: String]
    var limit: Int?
  }

  static let cases = [
    Case(
      testDescription: "v2, own limit", group: "0::/a/b\n",
      files: ["a/b/memory.max": "1000\n", "a/memory.max": "max\n"],
      limit: 1000),
    Case(
      testDescription: "v2, an ancestor's limit is smaller", group: "0::/a/b\n",
      files: ["a/b/memory.max": "3000\n", "a/memory.max": "2000\n"], limit: 2000),
    Case(
      testDescription: "v2, no limit", group: "0::/a\n", files: ["a/memory.max": "max\n"], limit: nil),
    Case(
      testDescription: "v2, a container's namespace", group: "0::/\n", files: ["memory.max": "134217728\n"],
      limit: 134_217_728),
    Case(
      testDescription: "v2, a path of the host that is not mounted", group: "0::/kubepods/pod1/c1\n",
      files: ["memory.max": "500\n"], limit: 500),
    Case(
      testDescription: "v2, a path above the mount", group: "0::/../x\n", files: ["memory.max": "7\n"], limit: 7),
    Case(
      testDescription: "v1, own limit", group: "4:memory:/a\n0::/\n",
      files: ["memory/a/memory.limit_in_bytes": "900\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"],
      limit: 900),
    Case(
      testDescription: "v1, no limit", group: "4:cpu,memory:/a\n",
      files: ["memory/a/memory.limit_in_bytes": "9223372036854771712\n"], limit: nil),
    Case(testDescription: "no controller", group: "0::/\n", files: [:], limit: nil),
    Case(testDescription: "no text that is a group", group: "\nx\n::\n", files: ["memory.max": "5"], limit: nil),
    Case(testDescription: "no number", group: "0::/\n", files: ["memory.max": "-5\n"], limit: nil),
  ]

  @Test(arguments: cases)
  func readsTheSmallestLimit(_ one: Case) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "cgroup-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    func write(_ text: String, _ path: String) throws {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: false, encoding: .utf8)
    }
    try write(one.group, "proc/self/cgroup")
    for (path, text) in one.files { try write(text, "sys/fs/cgroup/" + path) }
    #expect(CgroupMemory.limit(root: root.path) == one.limit)
  }

  @Test func aMachineWithoutGroupsHasNoLimit() {
    #expect(CgroupMemory.limit(root: "/nonexistent") == nil)
  }
}
