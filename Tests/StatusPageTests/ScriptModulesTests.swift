import Testing

@testable import StatusPage

@Suite struct ScriptModulesTests {
  @Test func modulesFollowTheirImportsAndAreThereOnce() {
    let modules = ScriptModules([
      "a/app.js": "import { B } from \"./b.js\";\nimport { c } from \"../c/c.js\";\nnew B(c);\n",
      "a/b.js": "import { c } from \"../c/c.js\";\nexport class B {\n}\n",
      "c/c.js": "// c\n\n/** c */\nexport const c = 1;\nexport async function load() {}\nexport function* all() {}\n",
    ])
    #expect(
      modules.script("a/app.js") == """
        // c/c.js
        const module0 = (() => {

        const c = 1;
        async function load() {}
        function* all() {}
        return { c, load, all };
        })();
        // a/b.js
        const module1 = (() => {
        const { c } = module0;
        class B {
        }
        return { B };
        })();
        // a/app.js
        const module2 = (() => {
        const { B } = module1;
        const { c } = module0;
        new B(c);
        return {  };
        })();
        """)
  }

  /// What the join supports; `make lint` finds names that a module does not export, and modules that import each other.
  @Test(arguments: StatusPage.modules.keys.sorted())
  func importsAndExportsHaveASupportedForm(path: String) throws {
    for line in try #require(StatusPage.modules[path]).split(separator: "\n") {
      if line.hasPrefix("import") {
        let match = try #require(line.wholeMatch(of: /import \{ [\w, ]+ \} from "(\.\.?\/[a-z\/]+\.js)";/), "\(line)")
        let name = match.output.1.split(separator: "/").suffix(match.output.1.hasPrefix("./") ? 1 : 2)
        let folder = match.output.1.hasPrefix("./") ? [path.split(separator: "/")[0]] : []
        let module = (folder + name).joined(separator: "/")
        #expect(StatusPage.modules[module] != nil, "\(path) imports \(module)")
      }
      if line.hasPrefix("export") {
        #expect(line.firstMatch(of: /^export (async )?(class|const|function\*?) \w/) != nil, "\(line)")
      }
      #expect(!line.contains("import("), "\(path) imports a module that the script has already")
    }
  }

  @Test func commentsOfTheirOwnLinesAreLeftOut() {
    let modules = ScriptModules([
      "a.js": """
      // a
      /**
       * one
       // two
       */
      const url = "x//y"; // three
        /* four */
      const star = 2
        * 3;
      try { f(); } catch { /* five */ }
      """
    ])
    #expect(
      modules.script("a.js") == """
        // a.js
        const module0 = (() => {
        const url = "x//y"; // three
        const star = 2
          * 3;
        try { f(); } catch { /* five */ }return {  };
        })();
        """)
  }

  /// Code after the end of a comment in one line would be left out with it, and so would a text whose lines look like comments.
  @Test(arguments: StatusPage.modules.keys.sorted())
  func commentsEndTheirLines(path: String) throws {
    var isInside = false
    for line in try #require(StatusPage.modules[path]).split(separator: "\n") {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("/*") { isInside = true }
      if isInside {
        #expect(!text.contains("*/") || text.hasSuffix("*/"), "\(path): \(line)")
        #expect(text.hasPrefix("/*") || text.hasPrefix("*"), "\(path): \(line)")
      }
      if text.contains("*/") { isInside = false }
    }
    #expect(!isInside)
    let texts = try #require(StatusPage.modules[path]).split(separator: "\n").filter { line in
      line.count { $0 == "`" } % 2 == 1
    }
    #expect(texts.isEmpty, "\(path) has a text of several lines: \(texts)")
  }

  @Test func scriptsContainEveryModule() {
    let text = StatusPage.files.values.filter { $0.name.hasSuffix(".js") }
      .map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n")
    #expect(StatusPage.modules.count > 30)
    for path in StatusPage.modules.keys { #expect(text.contains("// \(path)\n"), "no page uses \(path)") }
    for line in text.split(separator: "\n") { #expect(!line.hasPrefix("import ") && !line.hasPrefix("export ")) }
  }

  /// A module with more lines has more than one reason to change.
  @Test func modulesHaveAtMost200Lines() {
    for (path, text) in StatusPage.modules {
      #expect(text.count { $0 == "\n" } <= 200, "\(path)")
    }
  }
}
