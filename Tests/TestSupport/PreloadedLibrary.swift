/// A library that is preloaded into the program under test (ld.so(8), `LD_PRELOAD`).
public enum PreloadedLibrary {
  /// Compiles a file of the folder `Tests/Fault`.
  ///
  /// - Parameters:
  ///   - name: its name without the extension.
  ///   - directory: where the library is written.
  /// - Returns: the path of the library.
  /// - Throws: a ``TestError`` with the compiler's messages.
  public static func build(_ name: String, in directory: TemporaryDirectory) throws(TestError) -> String {
    let library = "\(directory.path)/\(name).so"
    let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    let child = try Child(
      "/usr/bin/env", ["cc", "-shared", "-fPIC", "-O", "-o", library, "\(tests)/Fault/\(name).c", "-ldl"])
    guard try child.wait() == .exited(0) else { throw TestError(child.errors) }
    return library
  }
}
