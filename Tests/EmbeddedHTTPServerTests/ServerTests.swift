import Testing

/// Everything that opens sockets, one after the other: some of it counts this process's descriptors.
@Suite("HTTPServer", .serialized)
struct ServerTests {}
