import Foundation
import StoreTools
import Testing
import WorkbenchFixtures

@Suite("The doctor's findings as Markdown")
struct DoctorMarkdownTests {
  private func text(_ store: OfficeStore) throws -> String {
    String(decoding: DoctorMarkdown.data(try StoreDoctor.examine(store.url)), as: UTF8.self)
  }

  @Test func findingsAreATableWithTheMostSevereFirst() throws {
    let store = try OfficeStore()
    #expect(try text(store) == "### `Office.sqlite`: no problems found\n")
    try store.run("DROP INDEX Z_Party_byName; CREATE INDEX \"a|b\" ON ZNOTE (ZPERSON)")
    try store.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'")
    let lines = try text(store).components(separatedBy: "\n")
    #expect(lines[0] == "### `Office.sqlite`: 1 error, 1 warning, 1 note")
    #expect(
      lines[2...3] == ["| severity | finding | problem | next |", "| --- | --- | --- | --- |"])
    #expect(lines.count == 8)
    for (line, start) in zip(
      lines[4...],
      [
        "| error | `primary-key-counter` | ", "| warning | `index-missing` | ",
        "| note | `index-redundant` | ",
      ])
    {
      #expect(line.hasPrefix(start) && line.hasSuffix(" |"))
      #expect(" \(line)".matches(of: /[^\\]\|/).count == 5, "\(line)")
    }
  }
}
