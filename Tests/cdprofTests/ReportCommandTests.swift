import Foundation
import Testing

@Suite("The report and compare commands")
struct ReportCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// A folder's pages have an index; a scenario of that name and another program's file are errors.
  @Test func folderHasAnIndexPage() throws {
    let text = """
      name: Tiny
      chapter: 6
      model: \(PackageFiles.model)
      data: {Continent: {count: 1}}
      steps: [{count: Continent}]
      """
    _ = try program.folder.write(text, to: "mine/06-fetching/tiny.yml")
    _ = try program.folder.write(text, to: "mine/other.yml")
    let run = ["run", "mine", "--report", "html", "--out", "a"]
    let first = try program.run(run)
    #expect(first.status == 0)
    #expect(first.output.hasSuffix("2 of 2 scenarios passed\nwritten: a/index.html\n"))
    let page = try String(contentsOf: program.folder.file("a/index.html"), encoding: .utf8)
    #expect(page.contains("Chapter 6: fetching") && page.contains("cdprof run mine --report html"))
    for link in page.matches(of: /href="\.\/([^"]*)"/) {
      let file = program.folder.file("a/\(link.1)").path
      #expect(FileManager.default.fileExists(atPath: file), "\(link.1)")
    }
    #expect(try program.run(run).status == 0, "its own page is replaced")
    _ = try program.folder.write("mine", to: "b/index.html")
    let rejected = try program.run(["run", "mine", "--report", "html", "--out", "b"])
    #expect(rejected.status == 65 && rejected.errors.contains("b/index.html exists"))
    #expect(try program.run(["run", "mine", "--out", "b"]).status == 0, "no pages, no index")
    _ = try program.folder.write(text, to: "my own/tiny.yml")
    #expect(try program.run(["run", "my own", "--report", "html", "--out", "c"]).status == 0)
    let spaced = try String(contentsOf: program.folder.file("c/index.html"), encoding: .utf8)
    #expect(
      spaced.replacing("&#39;", with: "'").contains("cdprof run 'my own' --report html"))
    _ = try program.folder.write(text, to: "mine/index.yml")
    let same = try program.run(run)
    #expect(same.status == 64 && same.errors.contains("would both write index.html"))
    #expect(try program.run(["run", "mine/index.yml", "--report", "html"]).status == 0)
  }

  @Test func resultsAreRenderedAndCompared() throws {
    let run = try program.run(
      ["run", program.smallFaults(), "--quiet", "--report", "html,json", "--out", "a"])
    #expect(run.status == 0)
    let rendered = try program.run(["report", "a/faults.json", "--report", "html"])
    #expect(rendered.status == 0)
    let page = try String(contentsOf: program.folder.file("a/faults.html"), encoding: .utf8)
    #expect(rendered.output == page)
    let text = try program.run(["report", "a/faults.json"])
    #expect(text.output.contains("6 of 6 variants"))
    let files = try program.run(
      ["report", "a/faults.json", "--report", "md,junit", "--out", "b"])
    #expect(files.output.contains("b/faults.md") && files.output.contains("b/faults.junit.xml"))

    let same = try program.run(
      ["report", "a/faults.json", "./a/faults.json", "--report", "md", "--out", "c"])
    #expect(same.status == 64 && same.errors.contains("would both be named faults"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("c").path))

    let json = program.folder.file("a/faults.json")
    let other = program.folder.file("worse.json")
    let changed = try String(contentsOf: json, encoding: .utf8)
      .replacingOccurrences(of: "\"selects\": 2,", with: "\"selects\": 3,")
    try Data(changed.utf8).write(to: other)
    let equal = try program.run(["compare", "a/faults.json", "a/faults.json"])
    #expect(equal.status == 0)
    #expect(equal.output.contains("plain: the same counts"))
    let worse = try program.run(["compare", "a/faults.json", "worse.json"])
    #expect(worse.status == 2)
    #expect(worse.output.contains("✗ prefetched: selects 2 → 3"))
    let allowed = try program.run(
      ["compare", "a/faults.json", "worse.json", "--fail-on", "misses", "--json"])
    #expect(allowed.status == 0)
    let object = try JSONSerialization.jsonObject(with: Data(allowed.output.utf8))
    #expect((object as? [String: Any])?["holds"] as? Bool == true)
  }
}
