import Foundation
import Testing

@Suite("cdprof list")
struct ListCommandTests {
  private let program = try? BuiltProgram()

  @Test func currentFolderAndItsScenariosAreListed() throws {
    let program = try #require(program)
    #expect(try program.run(["list"]).status == 66)
    #expect(try program.run(["list"]).errors.contains("create one with `cdprof new NAME`"))
    #expect(try program.run(["new", "mine"]).status == 0)
    _ = try program.folder.write("version: 3\nservices: {}\n", to: "compose.yml")
    try FileManager.default.createDirectory(
      at: program.folder.file("Scenarios"), withIntermediateDirectories: true)
    for file in ["faults.yml", "Models"] {
      try FileManager.default.copyItem(
        atPath: PackageFiles.scenario(file), toPath: program.folder.file("Scenarios/\(file)").path)
    }
    let list = try program.run(["list"])
    #expect(list.status == 0 && list.errors.isEmpty, "\(list.errors)")
    #expect(list.output.contains("Scenarios\n\nChapter 15\n  Fault storm  faults.yml\n\n.\n"))
    #expect(list.output.contains("  mine.yml\n\n2 scenarios\n"), "\(list.output)")

    _ = try program.folder.write("name: x\nsteps: []\n", to: "bad.yml")
    let invalid = try program.run(["list"])
    #expect(invalid.status == 65 && invalid.errors.hasPrefix("bad.yml:"))
    #expect(invalid.output == list.output)
    #expect(try program.run(["list", "--metric", "ddl"]).status == 65)
    #expect(try program.run(["list", "Scenarios", "--metric", "ddl"]).status == 64)
    #expect(try program.run(["list", "Scenarios", "--covers", "S6.01"]).status == 0)
    #expect(try program.run(["list", "missing"]).status == 66)
  }
}
