internal import Glibc

/// A certificate authority for tests, made by openssl(1) in a directory that goes with its last reference.
public final class TestAuthority: Sendable {
  /// Where its files are.
  public let directory: String
  /// Its own certificate: what a client must trust.
  public var certificate: String { directory + "/ca.pem" }

  /// Makes an authority.
  ///
  /// - Throws: a ``TestError`` when openssl does not do it.
  public init() throws(TestError) {
    var template = Array("/tmp/reachd-authority-XXXXXX\0".utf8.map { CChar(bitPattern: $0) })
    guard let made = unsafe mkdtemp(&template) else { throw .system("mkdtemp") }
    directory = unsafe String(cString: made)
    try run(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=test")
  }

  deinit {
    _ = try? Child("/bin/rm", ["-rf", directory]).wait()
  }

  /// Makes a certificate for this machine's loopback and its key: `NAME.pem`, `NAME.key`.
  ///
  /// - Parameters:
  ///   - name: the common name, and the files'.
  ///   - key: what openssl calls the kind of key.
  ///   - names: the subject alternative names.
  ///   - days: the days until it expires.
  /// - Returns: the paths of both files.
  /// - Throws: a ``TestError`` when openssl does not do it.
  public func issue(
    _ name: String, key: String = "ec -pkeyopt ec_paramgen_curve:P-256",
    names: String = "DNS:localhost,IP:127.0.0.1", days: Int = 30
  ) throws(TestError) -> (certificate: String, key: String) {
    try run("req -newkey \(key) -nodes -keyout \(name).key -out \(name).csr -subj /CN=\(name)")
    let script =
      "printf 'subjectAltName=\(names)' > names; openssl x509 -req -in \(name).csr -CA ca.pem"
    try shell(script + " -CAkey ca.key -days \(days) -extfile names -out \(name).pem")
    return ("\(directory)/\(name).pem", "\(directory)/\(name).key")
  }

  private func run(_ line: String) throws(TestError) { try shell("openssl \(line)") }

  private func shell(_ line: String) throws(TestError) {
    let child = try Child("/bin/sh", ["-euc", "cd '\(directory)'; \(line)"])
    guard try child.wait() == .exited(0) else { throw TestError("\(line): \(child.errors)") }
  }
}
