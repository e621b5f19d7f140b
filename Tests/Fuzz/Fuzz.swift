import CFuzzer
import Glibc

/// `Fuzz TARGET …`: feeds one target with what libFuzzer makes up; the rest of the arguments is libFuzzer's.
@main
enum Fuzz {
  /// What is fuzzed: each function traps when a promise is broken, and otherwise only has to come back.
  static let targets: [String: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt] = [
    "request": { play($0, $1, RequestTarget.play) },
    "wire": { play($0, $1, WireTarget.play) },
    "framing": { play($0, $1, FramingTarget.play) },
    "sse": { play($0, $1, StreamTarget.play) },
    "configuration": { play($0, $1, ConfigurationTarget.play) },
    "netlink": { play($0, $1, NetlinkTarget.play) },
    "probe": { play($0, $1, ProbeTargetTarget.play) },
    "store": { play($0, $1, StoreTarget.play) },
  ]

  private static func play(_ start: UnsafePointer<UInt8>?, _ count: Int, _ body: ([UInt8]) -> Void) -> CInt {
    body(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }

  static func main() {
    guard CommandLine.argc > 1, let target = targets[CommandLine.arguments[1]] else {
      print("usage: Fuzz \(targets.keys.sorted().joined(separator: "|")) [libFuzzer's options]")
      exit(64)
    }
    // The driver takes the name of the program first: ours in the place of the target's.
    var count = CommandLine.argc - 1
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
    exit(LLVMFuzzerRunDriver(&count, &arguments, target))
  }
}
