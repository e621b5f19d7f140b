import Glibc
import Testing

@testable import HostProcess

@Suite struct ProcessTerminalOutputTests {
  @Test func waitsForNoReaderAndContinuesLater() throws {
    let (master, slave) = try Self.pair()
    defer {
      close(master)
      close(slave)
    }
    guard var output = ProcessTerminalOutput(of: slave) else { return _ = Issue.record("not opened") }
    var written = 0
    while output.isIdle {
      output.write(String(repeating: "x", count: 1000))
      written += 1000
    }
    #expect(fcntl(slave, F_GETFL) & O_NONBLOCK == 0, "other processes have this open file description")
    output.write("end")
    var text: [UInt8] = []
    while text.count < written + 3 {
      text += try #require(ProcessTerminal.read(master))
      output.flush()
    }
    let isIdle = output.isIdle
    #expect(isIdle && text.suffix(4) == Array("xend".utf8))
  }

  @Test func endReplacesWhatNobodyHasRead() throws {
    let (master, slave) = try Self.pair()
    defer {
      close(master)
      close(slave)
    }
    guard var output = ProcessTerminalOutput(of: slave) else { return _ = Issue.record("not opened") }
    while output.isIdle { output.write(String(repeating: "x", count: 1000)) }
    output.finish("end", within: .milliseconds(1))
    let isIdle = output.isIdle
    #expect(isIdle)
  }

  /// A new pseudo-terminal, in which line breaks are not changed.
  private static func pair() throws -> (master: Int32, slave: Int32) {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
    return (master, slave)
  }
}
