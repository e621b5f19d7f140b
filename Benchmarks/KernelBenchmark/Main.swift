import Glibc

/// The program of `Benchmarks/kernel.py`: a monitor that records the times of readings and verdicts, and simple alternatives.
///
/// It changes the network namespace in which it is started; use a namespace that exists only for it.
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

/// CLOCK_REALTIME in nanoseconds, the clock of `ip -ts monitor`.
func now() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
