internal import CZlib

/// The gzip format (RFC 1952), by zlib.
public enum Gzip {
  /// How much time compression may take.
  public enum Effort: Int32, Sendable {
    /// For content that is compressed for each response.
    case fast = 1
    /// For content that is compressed once and sent often.
    case best = 9
  }

  /// Returns the compressed bytes; nil when memory is exhausted.
  public static func compressed(_ bytes: [UInt8], effort: Effort = .fast) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard unsafe reachd_gzip_init(&stream, effort.rawValue) == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    // The bound is exact enough for one call, so no loop over partial output is needed.
    var output = [UInt8](repeating: 0, count: unsafe Int(deflateBound(&stream, UInt(bytes.count))))
    var input = bytes
    let result = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = UInt32(input.count)
        unsafe stream.next_out = output.baseAddress
        unsafe stream.avail_out = UInt32(output.count)
        return unsafe deflate(&stream, Z_FINISH)
      }
    }
    guard result == Z_STREAM_END else { return nil }
    unsafe output.removeLast(Int(stream.avail_out))
    return output
  }
}
