import Dispatch
import Locks
import Logging
import TestSupport
import Testing

@testable import Service

/// Lines on their way out, however slowly they are read.
@Suite struct LogWriterTests {
  @Test func blockedWriterQueuesAndCountsDroppedLines() {
    let (begun, mayWrite) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let written = Locked<[String]>([])
    let writer = LogWriter { text in
      begun.signal()
      mayWrite.wait()
      written.withLock { $0 += text.split(separator: "\n").map(String.init) }
      return true
    }
    let notice: @Sendable (Int) -> String = { "\($0) dropped" }
    writer.enqueue("first", dropNotice: notice)
    // From here on the reader reads nothing.
    begun.wait()
    for number in 0..<LogWriter.capacity + 9 { writer.enqueue("line \(number)", dropNotice: notice) }
    #expect(writer.droppedTotal == 10, "the one that is being written waits, too")
    for _ in 0..<9 { mayWrite.signal() }
    writer.flush(seconds: 60)
    let kept = (0..<LogWriter.capacity - 1).map { "line \($0)" }
    #expect(written.withLock(\.self) == ["first"] + kept + ["10 dropped"])
    writer.enqueue("later", dropNotice: notice)
    writer.flush(seconds: 60)
    #expect(written.withLock(\.self).last == "later")
  }

  @Test(arguments: ["\u{9b}31m", "a\u{85}b", "a\u{2028}b", "\u{202e}c", "\u{2066}d", "\u{1b}[31m", "a\nb"])
  func controlCharactersAreEscaped(text: String) {
    let written = Locked("")
    let writer = LogWriter { text in
      written.withLock { $0 += text + "\n" }
      return true
    }
    for format in [LineLogHandler.Format.text, .json] {
      LineLogHandler.logger(.info, format, writer).info("\(text)", metadata: ["agent": "\(text)"])
    }
    writer.flush(seconds: 60)
    let lines = written.withLock(\.self)
    let strange = lines.unicodeScalars.filter { !(0x20...0x7e).contains($0.value) && $0 != "\n" }
    #expect(strange.isEmpty && lines.split(separator: "\n").count == 2, "\(lines.debugDescription)")
  }

  @Test func failedWritesAreCounted() {
    let written = Locked<[String]>([])
    let isFull = Locked(true)
    let writer = LogWriter { text in
      guard !isFull.withLock(\.self) else { return false }
      written.withLock { $0.append(text) }
      return true
    }
    let notice: @Sendable (Int) -> String = { "\($0) dropped" }
    writer.enqueue("lost", dropNotice: notice)
    writer.flush(seconds: 60)
    #expect(writer.droppedTotal == 1)
    isFull.withLock { $0 = false }
    writer.enqueue("kept", dropNotice: notice)
    writer.flush(seconds: 60)
    #expect(written.withLock(\.self) == ["kept\n1 dropped"])
  }

  @Test func concurrentLinesAreWrittenOnce() async {
    let written = Locked<[String]>([])
    let writer = LogWriter { text in
      written.withLock { $0 += text.split(separator: "\n").map(String.init) }
      return true
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask { for number in 0..<200 { writer.enqueue("\(thread) \(number)") { "\($0)" } } }
      }
    }
    writer.flush(seconds: 60)
    let lines = written.withLock(\.self)
    #expect(lines.count == 800 && Set(lines).count == 800)
    for thread in 0..<4 {
      let own = lines.filter { $0.hasPrefix("\(thread) ") }
      #expect(own == (0..<200).map { "\(thread) \($0)" }, "those of one thread in their order")
    }
  }
}
