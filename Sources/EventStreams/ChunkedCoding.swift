/// The chunked transfer coding (RFC 9112, section 7.1).
///
/// Streams of taken-over sockets send each event as a chunk. Many clients return bytes of a body without chunks only when
/// a buffer of theirs is full, and a chunk immediately.
package enum ChunkedCoding {
  /// The line break after the content of a chunk.
  package static let lineBreak = Array("\r\n".utf8)
  /// The last chunk, of size 0, and the end of the trailer section: the end of a complete body.
  package static let end = Array("0\r\n\r\n".utf8)

  /// The size line of a chunk: the length in hexadecimal digits and a line break.
  static func header(of length: Int) -> [UInt8] { Array(String(length, radix: 16).utf8) + lineBreak }

  /// Encodes bytes as one chunk; no bytes as nothing, because a chunk of size 0 would be the last.
  package static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    bytes.isEmpty ? [] : header(of: bytes.count) + bytes + lineBreak
  }
}
