extension EventLogRing {
  struct Entry {
    var id: UInt64
    var kind: UInt8
    var labels: EventLog.Labels
    /// Position of the first byte of the chunk, counted from the first byte ever appended.
    var start: UInt64
    /// The bytes of the chunk's size line, before the content.
    var header: UInt8
    /// The bytes of the content.
    var contentLength: Int

    /// The bytes of the chunk: the size line, the content, and the line break after it.
    ///
    /// An empty entry has no chunk.
    var length: Int { contentLength == 0 ? 0 : Int(header) + contentLength + ChunkedCoding.lineBreak.count }

    /// The position and the length of a representation.
    func span(_ form: Form) -> (start: UInt64, length: Int) {
      switch form {
      case .content: (start + UInt64(header), contentLength)
      case .chunk: (start, length)
      }
    }
  }

  /// What a reader reads of each entry.
  enum Form {
    /// The bytes that were appended.
    case content
    /// The bytes as a chunk of a chunked body.
    case chunk
  }
}
