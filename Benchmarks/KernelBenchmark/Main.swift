import Glibc

/// What `Benchmarks/kernel.py` measures: a monitor that writes down when it read and judged, and the peers written out.
///
/// It works in the network namespace in which it is started, which must be one made for it.
@main
enum Main {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let number = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
    switch arguments.first {
    case "watch": try Watching(targets: number).run()
    case "naive": print(try NaiveLookups().nanoseconds(count: number))
    case "dump": print(try NaiveLookups().dumpNanoseconds())
    case "race": try Race().run(trials: number)
    default:
      print("usage: KernelBenchmark watch TARGETS | naive LOOKUPS | dump | race TRIALS")
      exit(64)
    }
  }
}

/// Nanoseconds of CLOCK_REALTIME, which `ip -ts monitor` writes, too.
func now() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
