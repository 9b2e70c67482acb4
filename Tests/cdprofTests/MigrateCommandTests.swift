import Foundation
import Testing

@Suite("cdprof migrate")
struct MigrateCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Makes a store of the sample's model, and the document of a version without an attribute of it.
  private func prepare() throws -> (store: URL, model: String) {
    let run = try program.run([
      "run", program.smallFaults(), "--only", "faults", "--report", "json", "--out", "made",
    ])
    #expect(run.status == 0)
    let document = URL(fileURLWithPath: PackageFiles.model)
    let text = try String(contentsOf: document.appendingPathComponent("contents"), encoding: .utf8)
    let removed = text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("name=\"numericISO3166Code\"") }.joined(separator: "\n")
    #expect(removed != text)
    let model = program.folder.file("Next.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(removed.utf8).write(to: model.appendingPathComponent("contents"))
    return (program.folder.file("made/faults.sqlite"), model.path)
  }

  @Test func rehearsalReportsLossesAndKeepsTheStore() throws {
    let (store, model) = try prepare()
    let bytes = try Data(contentsOf: store)
    let text = try program.run(["migrate", store.path, "--to", model, "--sizes", "1"])
    #expect(text.status == 3)
    #expect(text.errors.isEmpty)
    #expect(text.output.contains(/\d+ values of Region\.numericISO3166Code/))
    let json = try program.run([
      "migrate", store.path, "--to", model, "--json", "--out", "new.sqlite", "--sizes", "1,2",
    ])
    #expect(json.status == 3)
    let fields = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect((fields["lost"] as? [Any])?.isEmpty == false)
    #expect((fields["violations"] as? [Any])?.isEmpty == true)
    let growth = fields["growth"] as? [String: Any]
    #expect((growth?["sizes"] as? [[String: Any]])?.map { $0["factor"] as? Int } == [1, 2])
    #expect(try Data(contentsOf: store) == bytes)
    #expect(program.leftovers.isEmpty)
    let again = try program.run(["migrate", program.folder.file("new.sqlite").path, "--to", model])
    #expect(again.status == 0)
    #expect(again.output.contains("already has this version"))
  }

  @Test func storeIsMigratedInPlaceWithABackup() throws {
    let (store, model) = try prepare()
    let bytes = try Data(contentsOf: store)
    let outcome = try program.run([
      "migrate", store.path, "--to", model, "--in-place", "--sizes", "1",
    ])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("with a backup at"))
    #expect(try Data(contentsOf: program.folder.file("made/faults~.sqlite")) == bytes)
    #expect(try program.run(["migrate", store.path, "--to", model]).status == 0)
    #expect(try program.run(["doctor", store.path]).status == 0)
  }

  @Test func pageIsWrittenNextToTheText() throws {
    let (store, model) = try prepare()
    let arguments = [
      "migrate", store.path, "--to", model, "--sizes", "1", "--report", "html", "--report-dir",
      "pages",
    ]
    let outcome = try program.run(arguments)
    #expect(outcome.status == 3)
    #expect(outcome.errors == "written: pages/faults-migration.html\n")
    let page = program.folder.file("pages/faults-migration.html")
    #expect(try String(contentsOf: page, encoding: .utf8).contains("Region.numericISO3166Code"))
    try Data("mine".utf8).write(to: page)
    let refused = try program.run(arguments)
    #expect(refused.status == 65)
    #expect(refused.errors.contains("exists and wasn't written by cdprof"))
    #expect(try program.run(arguments + ["--force"]).status == 3)
    #expect(
      try program.run(["migrate", store.path, "--to", model, "--report", "pdf"]).status == 64)
  }
}
