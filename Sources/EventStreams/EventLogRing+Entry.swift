extension EventLogRing {
  struct Entry {
    let id: UInt64
    /// Position of the first byte of the chunk, counted from the first byte ever appended.
    let start: UInt64
    let labels: EventLog.Labels
    let contentLength: Int
    /// The bytes of the content before and after the data.
    private let framing: (before: UInt32, after: UInt32)
    let check: UInt32
    let kind: UInt8
    /// The bytes of the chunk's size line, before the content.
    let header: UInt8

    init(_ new: EventLog.Entry, start: UInt64, header: UInt8) {
      (id, kind, labels, check) = (new.id, new.kind, new.labels, new.check)
      (self.start, self.header, contentLength) = (start, header, new.bytes.count)
      framing = (UInt32(clamping: new.data.lowerBound), UInt32(clamping: contentLength - new.data.upperBound))
    }

    /// Where the data is in the content.
    var data: Range<Int> {
      let start = Int(framing.before)
      return start..<max(start, contentLength - Int(framing.after))
    }

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

  enum Form {
    /// The bytes that were appended.
    case content
    /// The bytes as a chunk of a chunked body.
    case chunk
  }
}
