import Testing

@testable import HostProcess

@Suite struct BootIDTests {
  @Test("The boot id is one line")
  func line() { #expect(BootID.current.utf8.count == 36) }

  @Test(
    "The offset of a time namespace is read from the kernel's lines",
    arguments: [
      ("monotonic           5         0\nboottime          -60         0\n", "+-60000000000"),
      ("monotonic 0 0\nboottime 7 500000000\n", "+7500000000"), ("1 0 0\n7 3 0\n", "+3000000000"),
      ("monotonic 9 0\nboottime 0 0\n", ""), ("boottime 0 1\n", "+1"), ("", ""), ("boottime\n", ""),
      ("boottime x 0\n", ""), ("boottime 9223372036854775807 0\n", ""), ("boottime 9223372036 999999999\n", ""),
      ("boottime 1 2 3\n", ""),
    ])
  func offset(_ text: String, _ expected: String) { #expect(BootID.clockOffset(in: text) == expected) }

  @Test("The identity of a clock begins with the boot id")
  func identity() {
    #expect(BootID.boot(ofClock: "a-b") == "a-b" && BootID.boot(ofClock: "a-b+-60000000000") == "a-b")
    #expect(BootID.boot(ofClock: "") == "")
  }
}
