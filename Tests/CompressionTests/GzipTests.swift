import CZlib
import Testing

@testable import Compression

@Suite struct GzipTests {
  /// Decompresses with zlib's inflate, as an independent direction.
  private func decompressed(_ bytes: [UInt8], capacity: Int) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard unsafe inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      return nil
    }
    defer { unsafe inflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: capacity + 1)
    let result = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = UInt32(input.count)
        unsafe stream.next_out = output.baseAddress
        unsafe stream.avail_out = UInt32(output.count)
        return unsafe inflate(&stream, Z_FINISH)
      }
    }
    guard result == Z_STREAM_END else { return nil }
    return unsafe Array(output.prefix(Int(stream.total_out)))
  }

  @Test(arguments: [0, 1, 1023, 1024, 65_535, 300_000], [Gzip.Effort.fast, .best])
  func roundTrip(count: Int, effort: Gzip.Effort) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    let compressed = try #require(Gzip.compressed(bytes, effort: effort))
    #expect(compressed.prefix(2) == [0x1f, 0x8b])
    #expect(decompressed(compressed, capacity: count) == bytes)
  }

  @Test func incompressibleBytesFit() throws {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let compressed = try #require(Gzip.compressed(bytes))
    #expect(decompressed(compressed, capacity: bytes.count) == bytes)
  }
}
