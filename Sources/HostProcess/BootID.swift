internal import Glibc

/// The identity of the machine's present run (random(4)).
public enum BootID {
  /// The kernel's boot id; empty if it cannot be read.
  public static var current: String {
    let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0a }, as: UTF8.self)
  }

  /// What follows the boot id in the identity of the zero of CLOCK_BOOTTIME: `+` and the offset of this process's time namespace
  /// in nanoseconds (time_namespaces(7)); empty without an offset.
  ///
  /// The boot id is that of the kernel, and a container whose clock begins with it has another zero than the host.
  public static var clockOffset: String {
    guard let bytes = try? FileReader.bytes(of: "/proc/self/timens_offsets", limit: 4_096) else { return "" }
    return clockOffset(in: String(decoding: bytes, as: UTF8.self))
  }

  /// The offset in the content of `timens_offsets`: lines of a clock, seconds and nanoseconds.
  static func clockOffset(in text: String) -> String {
    for line in text.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      // A line begins with the name of the clock, or with its number in kernels before 5.7.
      guard words.count == 3, ["boottime", "7"].contains(words[0]), let seconds = Int64(words[1]),
        let nanoseconds = Int64(words[2])
      else { continue }
      let offset = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let sum = offset.partialValue.addingReportingOverflow(nanoseconds)
      guard !offset.overflow, !sum.overflow, sum.partialValue != 0 else { return "" }
      return "+\(sum.partialValue)"
    }
    return ""
  }

  /// The boot id in the identity of a zero of CLOCK_BOOTTIME.
  public static func boot(ofClock identity: String) -> String { String(identity.prefix { $0 != "+" }) }
}
