import Locks
import Logging
import Testing

@testable import Service

@Suite("Log lines")
struct LogLineTests {
  /// The lines that a logger writes, without their time.
  private func lines(_ settings: LogSettings, _ log: (Logger) -> Void) -> [String] {
    let written = Locked<[String]>([])
    let writer = LogWriter { text in
      written.withLock { $0.append(text) }
      return true
    }
    log(LineLogHandler.logger(settings, writer))
    writer.flush(seconds: 20)
    return written.withLock { $0.joined(separator: "\n") }.split(separator: "\n").map {
      String($0).replacing(/\d{4}-\d\d-\d\dT[0-9:.]+Z/, with: "TIME")
    }
  }

  @Test("A text line has the level, the message and the sorted facts")
  func text() {
    let found = lines(LogSettings(.info, .text)) {
      $0.notice("listening", metadata: ["reason": "two words", "address": "127.0.0.1:1", "empty": ""])
    }
    #expect(found == [#"TIME notice listening address=127.0.0.1:1 empty="" reason="two words""#])
  }

  @Test("A value forges neither a line nor a fact")
  func forged() {
    let found = lines(LogSettings(.info, .text)) {
      $0.info("a\nb", metadata: ["a": "x=y", "b": "x\" c=\"z", "c": "\u{1b}[2J", "d": "\u{202e}", "e": "\u{85}é"])
    }
    #expect(
      found == [
        #"TIME info "a\nb" a="x=y" b="x\" c=\"z" c="\u001b[2J" d="\u202e" e="\u0085é""#
      ])
  }

  @Test("A JSON line has numbers and Booleans as such")
  func json() {
    let found = lines(LogSettings(.info, .json)) {
      $0.error(
        "done", metadata: ["count": .stringConvertible(5), "isTLS": .stringConvertible(true), "text": "5", "d": "a\"b"])
    }
    #expect(
      found == [
        #"{"time":"TIME","level":"error","message":"done","count":5,"d":"a\"b","isTLS":true,"text":"5"}"#
      ])
  }

  @Test("A change of the settings applies to existing loggers")
  func change() {
    let settings = LogSettings(.error, .text)
    let found = lines(settings) { logger in
      logger.info("omitted")
      settings.change(.debug, .json)
      logger.debug("written")
      settings.change(.critical, .text)
      logger.error("omitted")
      var verbose = logger
      verbose.logLevel = .trace
      verbose.trace("by its own level")
    }
    #expect(found == [#"{"time":"TIME","level":"debug","message":"written"}"#, "TIME trace by its own level"])
  }

  @Test("The journal receives the priority of each level", arguments: LineLogHandler.Format.allCases)
  func priorities(format: LineLogHandler.Format) {
    let found = lines(LogSettings(.trace, format, hasPriorities: true)) { logger in
      for level in Logger.Level.allCases { logger.log(level: level, "a") }
    }
    #expect(found.map { $0.prefix(3) } == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
  }

  @Test("The facts of a message override those of its logger")
  func metadata() {
    let found = lines(LogSettings(.info, .text)) { logger in
      var logger = logger
      logger[metadataKey: "a"] = "1"
      logger[metadataKey: "b"] = "2"
      logger.info("c", metadata: ["b": "3"])
      #expect(logger[metadataKey: "b"] == "2")
    }
    #expect(found == ["TIME info c a=1 b=3"])
  }
}
