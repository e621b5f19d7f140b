internal import ReachabilityModel

/// Parses the texts of a script.
///
/// A malformed text is a mistake in a test, which would otherwise pass or fail for another reason. It ends the process, as a
/// violated precondition does, with the text and the line of the test.
struct ScriptSyntax {
  let file: StaticString
  let line: UInt

  func address(_ text: String, of what: String = "an address") -> IPAddress {
    guard let address = IPAddress(text) else {
      refuse("\(text.debugDescription) is not \(what), such as 10.0.0.1 or fe80::1")
    }
    return address
  }

  /// An address with a prefix length.
  func prefix(_ text: String) -> IPPrefix {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let address = IPAddress(parts[0]), let length = UInt8(parts[1]),
      length <= address.family.bitCount
    else { refuse("\(text.debugDescription) is not an address with a prefix length, such as 10.0.0.5/24") }
    return IPPrefix(address, length: length)
  }

  /// The bytes that no name of an interface has: the end of a text in C, what the kernel's `isspace` accepts, slash and colon.
  private static let refusedInNames: Set<UInt8> = [
    0, 9, 10, 11, 12, 13, 0x20, 0xa0, UInt8(ascii: "/"), UInt8(ascii: ":"),
  ]

  /// The name of an interface, by the kernel's rule (`dev_valid_name`, IFNAMSIZ), which permits control characters.
  func interfaceName(_ text: String) -> String {
    let isValid =
      (1...15).contains(text.utf8.count) && text != "." && text != ".."
      && text.utf8.allSatisfy { !Self.refusedInNames.contains($0) }
    guard isValid else {
      refuse("\(text.debugDescription) is not an interface name: 1 to 15 bytes without spaces, slashes and colons")
    }
    return text
  }

  func hostName(_ text: String) -> String {
    do throws(TargetError) {
      if case .name(let name) = try ReachabilityTarget(host: text).remote { return name }
      refuse("\(text.debugDescription) is not a host name, such as db.internal")
    } catch {
      refuse("\(text.debugDescription) is not a host name: \(error)")
    }
  }

  private func refuse(_ message: String) -> Never { preconditionFailure(message, file: file, line: line) }
}
