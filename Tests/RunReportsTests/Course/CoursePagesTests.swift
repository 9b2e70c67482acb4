import Foundation
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import RunResults

@Suite("The pages of a course")
struct CoursePagesTests {
  /// Writes the texts of a course, and returns its folder.
  private static func folder(_ texts: [String: String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("course-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in texts {
      let file = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return folder.path
  }

  private static let texts = [
    "course.md": "# A <course>\n\nRead\nthis.\n\n- 06-a/two\n- faults\n- missing\n",
    "glossary.md": "- fault: an object.\n- row cache: rows: many.\n- no definition\n",
    "06-a/chapter.md": "# Chapter 6: A\n\nFirst.\n\n- one\n  more\n- two\n",
  ]

  private static func pages(_ texts: [String: String] = texts) throws -> CoursePages {
    let folder = try folder(texts)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lessons = ["06-a/one: ?", "06-a/two", "faults", "more"].map {
      CoursePages.Lesson(name: $0, title: "Lesson \($0)", chapter: 6, story: "A Story.")
    }
    return CoursePages(title: "Scenarios", lessons: lessons, text: try CourseText(folder: folder))
  }

  @Test func mainPathComesFirst() throws {
    let names = try Self.pages().lessons.map(\.name)
    #expect(names == ["06-a/two", "faults", "06-a/one: ?", "more"])
  }

  /// A text can have CR LF, and can list a lesson twice.
  @Test func textsAreReadByLineAndLessonsOnce() throws {
    var texts = Self.texts.mapValues { $0.replacing("\n", with: "\r\n") }
    texts["course.md"]? += "- faults\r\n- 06-a/two\r\n"
    let pages = try Self.pages(texts)
    #expect(pages.lessons.map(\.name) == ["06-a/two", "faults", "06-a/one: ?", "more"])
    let contents = try #require(pages.otherPages().first { $0.path == "index.html" })
    #expect(contents.html.contains("A &lt;course&gt;") && contents.html.contains("Read this."))
  }

  @Test func lessonLinksToItsNeighborsAndToTermsOnce() throws {
    let pages = try Self.pages()
    let first = try pages.page(of: pages.lessons[0], FaultStormScenario(moods: 20).result())
    #expect(first.contains("<a href=\"../index.html\">Contents</a>"))
    #expect(first.contains("lesson 1 of 4") && !first.contains("rel=\"prev\""))
    #expect(first.contains("<a rel=\"next\" href=\"../faults.html\">Lesson faults →</a>"))
    for term in ["fault", "row-cache"] {
      #expect(first.ranges(of: "href=\"../glossary.html#term-\(term)\"").count == 1)
    }
    let second = try pages.page(of: pages.lessons[1], FaultStormScenario(moods: 20).result())
    #expect(second.contains("<a rel=\"next\" href=\"./06-a/one%3A%20%3F.html\">"))
    #expect(second.contains("<a rel=\"prev\" href=\"./06-a/two.html\">"))
    let alone = try HTMLReport.page(FaultStormScenario(moods: 20).result())
    #expect(!alone.contains("glossary.html") && !alone.contains("aria-label=\"Course\""))
  }

  /// Two folders can have lessons with the same file name.
  @Test func scoreBelongsToTheLessonsPath() throws {
    let lessons = ["a/intro", "b/intro"].map {
      CoursePages.Lesson(name: $0, title: $0, chapter: nil, story: "")
    }
    let folder = try Self.folder(["course.md": "# Two\n"])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pages = CoursePages(title: "Two", lessons: lessons, text: try CourseText(folder: folder))
    let index = try #require(pages.otherPages().first { $0.path == "index.html" }).html
    var result = FaultStormScenario(moods: 20).result()
    result.predictions = [
      PredictionResult(question: "How many?", choices: [], answers: ["21"], hints: [], why: "")
    ]
    for lesson in pages.lessons {
      let page = try pages.page(of: lesson, result)
      #expect(page.contains("aria-labelledby=\"predict\" data-lesson=\"\(lesson.name)\""))
      #expect(index.contains("data-key=\"\(lesson.name)\""))
    }
  }

  /// Terms are linked as whole words, in the plural, and longer terms first.
  @Test(
    arguments: [
      ("A default value.", "A default value."), ("Faults fire.", "[Faults] fire."),
      ("a fault, a fault", "a [fault], a fault"),
      ("one relationship fault", "one [relationship fault]"),
      ("", ""), ("two faulty faults", "two faulty [faults]"),
    ])
  func termsAreLinkedAsWords(text: String, expected: String) {
    let terms = ["fault", "relationship fault"]
    var links = TermLinks(terms, glossary: "g")
    let parts = links.parts(of: text)
    #expect(parts.map { $0.link == nil ? $0.text : "[\($0.text)]" }.joined() == expected)
    #expect(parts.compactMap(\.link).allSatisfy { $0.hasPrefix("g#term-") })
  }

  @Test func otherPagesContainTheTextsEscaped() throws {
    let pages = Dictionary(uniqueKeysWithValues: try Self.pages().otherPages().map { $0 })
    #expect(pages.keys.sorted() == ["06-a/chapter.html", "glossary.html", "index.html"])
    let index = try #require(pages["index.html"])
    for text in [
      "<h1>A &lt;course&gt;</h1>", "<p>Read this.</p>", "The main path",
      "<a href=\"./06-a/chapter.html\">Chapter 6: A</a>", "href=\"./06-a/one%3A%20%3F.html\"",
      "Further lessons: Chapter 6: A", "data-text=\"lesson faults a story.\"",
      "data-key=\"faults\"",
    ] {
      #expect(index.contains(text), "\(text)")
    }
    let chapter = try #require(pages["06-a/chapter.html"])
    #expect(chapter.contains("<li>one more</li><li>two</li>"))
    #expect(chapter.contains("href=\"../06-a/two.html\"") && !chapter.contains("type=\"search\""))
    let glossary = try #require(pages["glossary.html"])
    #expect(glossary.contains("<dt id=\"term-row-cache\">row cache</dt><dd>rows: many.</dd>"))
    #expect(!glossary.contains("no definition"))
  }

  @Test func textsAreOptional() throws {
    let pages = try Self.pages([:])
    #expect(pages.lessons.map(\.name) == ["06-a/one: ?", "06-a/two", "faults", "more"])
    let others = try pages.otherPages()
    #expect(others.map(\.path) == ["index.html", "glossary.html"])
    #expect(others[0].html.contains("<h1>Scenarios</h1>"))
  }

  /// The names in the texts of the scenarios are those of their files.
  @Test func mainPathOfTheScenariosIsComplete() throws {
    let text = try CourseText(folder: PackagedScenarios.folder.path)
    #expect(text.path.count == 28 && text.path.first == "faults")
    let root = PackagedScenarios.folder.path + "/"
    let files = Set(PackagedScenarios.all.map { $0.path.replacing(root, with: "").dropLast(4) })
    for name in text.path { #expect(files.contains(name[...]), "\(name)") }
    #expect(text.terms.count >= 25)
    let folders = Set(files.compactMap { $0.split(separator: "/").dropLast().first })
    for folder in folders {
      #expect(text.chapters[String(folder)]?.blocks.isEmpty == false, "\(folder)")
    }
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func browserFindsLessons() throws {
    let script = """
      <script>
      const input = document.querySelector("[type=search]");
      input.value = "STORY faults";
      input.dispatchEvent(new Event("input"));
      const shown = [...document.querySelectorAll("[data-key]")].filter(li => li.offsetParent);
      document.title = shown.map(li => li.dataset.key).join() + "|"
        + document.querySelector(".search [role=status]").textContent;
      </script>
      """
    let index = try #require(try Self.pages().otherPages().first { $0.path == "index.html" })
    let page = index.html
      .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
    let shown = try Chromium(opening: page + script)
    #expect(shown.console.isEmpty, "\(shown.console)")
    #expect(shown.elements.contains("<title>faults|1 lesson</title>"))
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func pagesFitTheirWindowWithLongWords() throws {
    let word = String(repeating: "Everything", count: 40)
    let folder = try Self.folder([
      "course.md": "# \(word)\n\n\(word)\n\n- a/1\n", "glossary.md": "- \(word): a \(word).\n",
      "a/chapter.md": "# \(word)\n\n\(word)\n\n- \(word)\n",
    ])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lessons = ["a/1", "a/2"].map {
      CoursePages.Lesson(name: $0, title: word, chapter: nil, story: word)
    }
    let pages = CoursePages(title: word, lessons: lessons, text: try CourseText(folder: folder))
    let lesson = try pages.page(of: pages.lessons[0], FaultStormScenario(moods: 20).result())
    for page in try pages.otherPages().map(\.html) + [lesson] {
      #expect(try Chromium.excess(of: page, at: [320, 768, 1_280]) == [0, 0, 0])
    }
  }

  /// A server's part in a page, which answers each request when it's told to.
  private static let server = """
    <head><script>
    window.fetch = (url, options) => options.method !== "POST"
      ? Promise.resolve(new Response("name: x"))
      : new Promise(resolve => {
        window.answer = values => resolve(new Response(JSON.stringify(values)));
      });
    </script>
    """

  /// The line of the shell is disabled until it's answered, and then has the focus again.
  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func answerOfTheShellTakesNoFocusFromTheEditor() throws {
    let script = """
      <script>
      const wait = () => new Promise(resolve => setTimeout(resolve, 50));
      const focused = async meanwhile => {
        document.querySelector("#line").focus();
        document.querySelector(".prompt").requestSubmit();
        await wait();
        if (meanwhile) document.querySelector(meanwhile).focus();
        answer({session: "s", banner: "", output: ""});
        await wait();
        return document.activeElement.id;
      };
      (async () => {
        await wait();
        document.title = await focused() + "," + await focused("#text");
      })();
      </script>
      """
    let shown = try Chromium(opening: Self.livePage() + script, milliseconds: 5_000)
    #expect(shown.console.isEmpty, "\(shown.console)")
    #expect(shown.elements.contains("<title>line,text</title>"))
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func runWithoutAResultHidesThePageOfAnEarlierOne() throws {
    let script = """
      <script>
      const wait = () => new Promise(resolve => setTimeout(resolve, 50));
      const isHidden = async values => {
        document.querySelector("[data-run]").click();
        await wait();
        answer({session: "s", state: "", messages: "", ...values});
        await wait();
        return document.querySelector(".compare").hidden;
      };
      (async () => {
        await wait();
        document.title = [await isHidden({}), await isHidden({page: "a.html"}), await isHidden({})];
      })();
      </script>
      """
    let shown = try Chromium(opening: Self.livePage() + script, milliseconds: 5_000)
    #expect(shown.elements.contains("<title>true,false,true</title>"))
  }

  /// Returns a lesson as a server sends it, with the server's part in it.
  private static func livePage() throws -> String {
    let pages = try Self.pages()
    return try pages.page(
      of: pages.lessons[0], FaultStormScenario(moods: 20).result(), isLive: true
    ).replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
      .replacing("<head>", with: server, maxReplacements: 1)
  }
}
