import Glibc
import Testing

/// A file of the package, by its path from the package's root.
struct SourceFile: Sendable {
  let path: String
  let text: String
  /// The text with every comment and string literal blanked, line for line.
  let code: String

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = CodeText.strip(text)
  }

  /// The directory under `Sources` or `Tests` that it lies in: its target's name.
  var module: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : ""
  }

  var isSource: Bool { path.hasPrefix("Sources/") }
  var lineCount: Int {
    text.split(separator: "\n", omittingEmptySubsequences: false).count - (text.hasSuffix("\n") ? 1 : 0)
  }
}

/// The package as it lies on the disk.
struct SourceTree: Sendable {
  let root: String
  let files: [SourceFile]

  /// Reads the package that this test belongs to.
  init() throws {
    // Tests/TidyTests/SourceTree.swift is three steps below the root.
    root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    var paths: [String] = []
    for top in ["Sources", "Tests"] { paths += Self.walk(root, top).filter { $0.hasSuffix(".swift") } }
    let root = root
    files = try paths.sorted().map { SourceFile(path: $0, text: try #require(Self.read(root + "/" + $0), "\($0)")) }
    try #require(files.count > 50, "the sources are not at \(root)")
  }

  func read(_ path: String) -> String? { Self.read(root + "/" + path) }

  /// The scripts, without their text.
  var scripts: [SourceFile] { Self.walk(root, "scripts").map { SourceFile(path: $0, text: "") } }

  /// The paths of the documents.
  var documents: [String] { Self.walk(root, "docs").filter { $0.hasSuffix(".md") }.sorted() }

  /// The articles of the documentation catalogues, by path.
  var articles: [(path: String, text: String)] {
    Self.walk(root, "Sources").filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted()
      .compactMap { path in read(path).map { (path, $0) } }
  }

  /// The directories directly in `Sources` or `Tests` that hold anything.
  func modules(_ top: String) -> [String] {
    let found = Self.walk(root, top).compactMap { path -> String? in
      let parts = path.split(separator: "/")
      return parts.count > 2 ? String(parts[1]) : nil
    }
    return Set(found).sorted()
  }

  /// Every file beneath a directory, by its path from the root; hidden ones left out.
  private static func walk(_ root: String, _ directory: String) -> [String] {
    guard let stream = unsafe opendir(root + "/" + directory) else { return [] }
    defer { unsafe closedir(stream) }
    var paths: [String] = []
    while let entry = unsafe readdir(stream) {
      let isDirectory = unsafe Int32(entry.pointee.d_type) == Int32(DT_DIR)
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
      let path = directory + "/" + name
      if isDirectory { paths += walk(root, path) } else { paths.append(path) }
    }
    return paths
  }

  private static func read(_ path: String) -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
