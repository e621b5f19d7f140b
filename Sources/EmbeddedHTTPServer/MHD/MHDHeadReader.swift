internal import CMicroHTTPD
internal import Glibc

/// Reads the header fields of a request, and checks that none of their bytes were changed.
@unsafe struct MHDHeadReader {
  var headers = HTTPHeaders()
  var isWellFormed = true
  /// The position at which the next line must begin.
  private var next: UnsafePointer<CChar>

  static func read(
    _ handle: OpaquePointer, _ method: UnsafePointer<CChar>, _ url: UnsafePointer<CChar>,
    _ version: UnsafePointer<CChar>, targetLength: Int
  ) -> MHDHeadReader {
    // A target that contains a NUL is shorter than the distance to the version.
    let hasWholeLine = unsafe url - method == strlen(method) + 1 && version - url == targetLength + 1
    var reader = unsafe MHDHeadReader(next: version + strlen(version))
    unsafe withUnsafeMutablePointer(to: &reader) { pointer in
      _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, httpHeader, pointer)
    }
    // After the last field: its line end and the empty line.
    let end = unsafe method + CMicroHTTPD_header_size(handle)
    let rest = unsafe end - reader.next
    unsafe reader.isWellFormed =
      unsafe !isKnownLayout || (hasWholeLine && reader.isWellFormed && rest >= 2 && rest <= 4)
    return unsafe reader
  }

  /// The header fields of a complete head, unchecked.
  static func fields(_ handle: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    unsafe withUnsafeMutablePointer(to: &headers) { pointer in
      _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, httpField, pointer)
    }
    return headers
  }

  private init(next: UnsafePointer<CChar>) {
    unsafe self.next = next
    // Most clients send fewer fields.
    unsafe headers.fields.reserveCapacity(8)
  }

  /// Adds one field and checks its position.
  ///
  /// libmicrohttpd 0.9.75 passes header lines as consecutive C strings in its read buffer, with NULs in place of CR and
  /// LF. A gap is a line that it changed. It truncates a line at a NUL, and appends the rest of a folded line to the
  /// field's *name*, which hides the field from every lookup by name.
  fileprivate mutating func add(
    _ name: UnsafePointer<CChar>, _ nameSize: Int, _ value: UnsafePointer<CChar>, _ valueSize: Int
  ) {
    let gap = unsafe name - next
    let valueOffset = unsafe value - name
    if gap < 1 || gap > 2 || valueOffset <= nameSize { unsafe isWellFormed = false }
    unsafe next = value + valueSize
    unsafe headers.add(
      String(decoding: UnsafeRawBufferPointer(start: name, count: nameSize), as: UTF8.self),
      String(decoding: UnsafeRawBufferPointer(start: value, count: valueSize), as: UTF8.self))
  }
}

/// Whether libmicrohttpd has the layout above, which is not documented.
///
/// Later versions refuse such lines themselves (`CMICROHTTPD_STRICTNESS`).
let isKnownLayout = unsafe MHD_get_version().map { unsafe String(cString: $0) == "0.9.75" } ?? false

private func httpField(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let headers = unsafe context?.assumingMemoryBound(to: HTTPHeaders.self) else { return .NO }
  unsafe headers.pointee.add(
    String(decoding: UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameSize), as: UTF8.self),
    String(decoding: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize), as: UTF8.self))
  return .YES
}

private func httpHeader(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let reader = unsafe context?.assumingMemoryBound(to: MHDHeadReader.self), let name = unsafe name else {
    return .NO
  }
  // A field without a value has its value's position directly after the colon.
  unsafe reader.pointee.add(name, nameSize, value ?? name + nameSize + 1, valueSize)
  return .YES
}
