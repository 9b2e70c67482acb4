import Foundation
import Testing

@Suite("The report and compare commands")
struct ReportCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  @Test func resultsAreRenderedAndCompared() throws {
    let run = try program.run(
      ["run", PackageFiles.faults, "--quiet", "--report", "html,json", "--out", "a"])
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

    let json = program.folder.file("a/faults.json")
    let other = program.folder.file("worse.json")
    let changed = try String(contentsOf: json, encoding: .utf8)
      .replacingOccurrences(of: "\"selects\": 2,", with: "\"selects\": 3,")
    try Data(changed.utf8).write(to: other)
    let same = try program.run(["compare", "a/faults.json", "a/faults.json"])
    #expect(same.status == 0)
    #expect(same.output.contains("plain: the same counts"))
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
