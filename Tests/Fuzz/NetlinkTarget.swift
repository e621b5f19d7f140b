@testable import Netlink

/// A datagram from the kernel, or a forged one.
enum NetlinkTarget {
  static func play(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { raw in
      var messages = 0
      NetlinkDecoder.forEachMessage(in: NetlinkBytes(raw)) { message in
        messages += 1
        let content = NetlinkDecoder.content(of: message)
        precondition(content == NetlinkDecoder.content(of: message), "the same bytes say the same")
        _ = String(describing: content)
      }
      precondition(messages <= bytes.count / NetlinkMessage.headerSize, "no byte is read twice")
    }
  }
}
