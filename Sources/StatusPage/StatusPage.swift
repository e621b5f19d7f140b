internal import CPage
internal import TextSyntax

/// The files of the status page, which the program contains.
///
/// The page is static: it holds no data of the service, and reads everything over the HTTP interface.
public enum StatusPage {
  /// One file of the page.
  public struct File: Sendable {
    /// The name in `/page/{build}/{name}`.
    public var name: String
    /// The value of `Content-Type`.
    public var contentType: String
    /// The content.
    public var bytes: [UInt8]
  }

  /// The document for `/`.
  ///
  /// Its URLs are relative, so that the page works behind a proxy with a path prefix. It contains the style sheet, so that
  /// browsers can draw its first frame before they have requested any file.
  public static let document = document("index.html")

  /// The document for `/` at a replica of a fleet.
  public static let fleetDocument = document("fleet.html")

  /// The style sheet, as it is in the document.
  public static let style = embedded("page.css")

  /// The script in the documents, which loads the page again when one of its files was not loaded.
  ///
  /// Chromium cancels all requests when the network changes, and the page would stay empty.
  public static let reload = embedded("reload.js")

  /// The scripts, the style sheets and the icons, by name.
  public static let files: [String: File] = {
    let joined = ScriptModules(modules)
    let scripts = ["node/app.js", "node/hub.js", "fleet/fleet.js"].map { path in
      let name = path.split(separator: "/").last.map(String.init) ?? path
      return File(name: name, contentType: contentType(of: name), bytes: Array(joined.script(path).utf8))
    }
    let others = all.filter { !$0.name.hasSuffix(".html") && !$0.name.hasSuffix(".js") }
    return Dictionary(uniqueKeysWithValues: (scripts + others).map { ($0.name, $0) })
  }()

  /// The modules from which the scripts are made, by their path in `Sources/CPage/web`.
  package static let modules: [String: String] = Dictionary(
    uniqueKeysWithValues: all.filter { $0.name.hasSuffix(".js") && $0.name.contains("/") }.map {
      ($0.name, String(decoding: $0.bytes, as: UTF8.self))
    })

  /// Twelve hexadecimal digits that change with the content of any file, so that clients may cache the files forever.
  public static let build: String = {
    var hash = FNV1aHash()
    for file in all { hash.add(Array(file.name.utf8) + file.bytes) }
    let digits = String(hash.value, radix: 16)
    return String((String(repeating: "0", count: 16 - digits.count) + digits).prefix(12))
  }()

  private static let all: [File] = {
    var files: [File] = []
    while let file = file(files.count) { files.append(file) }
    return files
  }()

  private static func file(_ number: Int) -> File? {
    let file = unsafe page_file_at(number)
    guard let name = unsafe file.name else { return nil }
    let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.length))
    let text = unsafe String(cString: name)
    return File(name: text, contentType: contentType(of: text), bytes: bytes)
  }

  private static func document(_ name: String) -> File {
    let text = substitute(["build": build, "style": style, "reload": reload], in: embedded(name))
    return File(name: name, contentType: contentType(of: name), bytes: Array(text.utf8))
  }

  private static func embedded(_ name: String) -> String {
    String(decoding: all.first { $0.name == name }?.bytes ?? [], as: UTF8.self)
  }

  private static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }

  /// Replaces each `{{name}}` by the value of that name.
  private static func substitute(_ values: KeyValuePairs<String, String>, in document: String) -> String {
    values.reduce(document) { document, value in
      document.split(separator: "{{\(value.key)}}", omittingEmptySubsequences: false).joined(separator: value.value)
    }
  }
}
