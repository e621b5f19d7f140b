import Testing

@testable import ReachabilityModel

@Suite struct PlainTextTests {
  @Test func controlsAreShownAndDoNothing() {
    #expect("grün, ein\u{1F600}".withoutControls == "grün, ein\u{1F600}")
    #expect("a\nup tcp://db:5432".withoutControls == "a\\nup tcp://db:5432")
    #expect("\u{1b}[2J\r\0\u{9b}\u{202e}".withoutControls == "\\u{1B}[2J\\r\\0\\u{009B}\\u{202E}")
  }
}
