/// A system call that a program under test is refused, as by the seccomp filter of a container runtime (`Tests/Fault/refuse.c`).
public struct RefusedCall: Sendable {
  private let rule: String

  /// Refuses the calls whose arguments have these values, by their positions from 0.
  public init(_ call: String, _ arguments: [Int: Int32] = [:], errno: Int32) {
    let conditions = arguments.sorted { $0.key < $1.key }.map { ",\($0.key)=\(UInt32(bitPattern: $0.value))" }
    rule = call + conditions.joined() + ":\(errno)"
  }

  /// The environment that has a program refused these calls.
  ///
  /// - Parameters:
  ///   - calls: the calls.
  ///   - directory: where the library is written.
  ///   - libraries: the names of further files of `Tests/Fault` to preload.
  /// - Returns: variables for the program.
  /// - Throws: a ``TestError`` with the compiler's messages.
  public static func environment(
    _ calls: [RefusedCall], in directory: TemporaryDirectory, and libraries: [String] = []
  ) throws(TestError) -> [String: String] {
    var paths: [String] = []
    for name in ["refuse"] + libraries { paths.append(try PreloadedLibrary.build(name, in: directory)) }
    return [
      "LD_PRELOAD": paths.joined(separator: " "), "REFUSED_CALLS": calls.map(\.rule).joined(separator: " "),
    ]
  }
}
