import Foundation
import Testing

@Suite("Exported programs cost the same")
struct ExportCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  private static let olderData = "data of an older version can't be exported"

  /// What can't be exported, with the reason; everything else can.
  private static let unsupportedScenarios = [
    "06-fetching/a-results-controller.yml": "`results` can't be exported",
    "06-fetching/one-wide-table.yml": "`index` can't be exported",
    "07-saving/undoing.yml": "`undo` can't be exported",
    "08-performance/readers-and-a-writer.yml": "`sql` can't be exported",
    "08-performance/holes-in-the-file.yml": "`sql` can't be exported",
    "08-performance/what-an-index-costs.yml": "`sql` can't be exported",
    "08-performance/where-a-save-goes.yml": "`sql` can't be exported",
    "08-performance/a-page-in-memory.yml": "`pragma` can't be exported",
    "08-performance/what-durability-costs.yml": "`pragma` can't be exported",
    "08-performance/a-transformable-attribute.yml": "`index` can't be exported",
    "08-performance/many-to-many.yml": "`index` can't be exported",
    "08-performance/sorting-by-a-key-path.yml": "`index` can't be exported",
    "09-sync/what-history-costs.yml": "`sql` can't be exported",
    "10-contexts/a-reader-that-stays.yml": "`sql` can't be exported",
    "12-predicates/asking-about-many.yml": "`index` can't be exported",
    "14-migration/a-constraint-over-duplicates.yml": olderData,
    "14-migration/a-file-that-keeps-its-size.yml": olderData,
    "14-migration/an-index-added-later.yml": olderData,
    "14-migration/immediate-or-deferred.yml": olderData,
    "14-migration/inferred-or-mapped.yml": olderData,
    "14-migration/one-hop-or-many.yml": olderData,
    "14-migration/optional-to-required.yml": olderData,
    "14-migration/what-a-column-costs.yml": olderData,
    "15-profiling/gained-and-paid.yml": "`index` can't be exported",
    "15-profiling/what-statistics-change.yml": "`analyze` can't be exported",
  ]

  /// Scenarios with one expectation that their log doesn't meet, and its line in the output.
  private static let knownDifferences = [
    // A log has no call sites, so six faults on each of two lines are twelve.
    "11-conflicts/a-row-that-went.yml": "✗ read too early · findings   expected none"
  ]

  @Test func exportedFaultsProgramMeetsItsExpectations() throws {
    let outcome = try program.run(["export", PackageFiles.faults, "--swift"])
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    _ = try program.folder.write(outcome.output, to: "faults/main.swift")
    let compiler = try ExportCompiler(program)
    let compiled = try compiler.compile(["faults/main.swift"], to: "faults.out")
    try #require(compiled.status == 0, "\(compiled.output)")
    let log = try compiler.run("faults.out", ["-com.apple.CoreData.SQLDebug", "1"])
    #expect(log.status == 0)
    #expect(log.output.contains("cdprof: begin fault storm\n"))
    _ = try program.folder.write(log.output, to: "faults.log")
    let evaluated = try program.run(["log", "faults.log", "--expect", PackageFiles.faults])
    #expect(evaluated.status == 0, "\(evaluated.output)\(evaluated.errors)")
    #expect(evaluated.output.contains("✓ 6 of 6 sections, "))
  }

  /// A scenario that can't be exported must be in the list.
  @Test(arguments: PackageFiles.scenarios)
  func everyScenarioIsExportedOrListed(name: String) throws {
    let outcome = try program.run(["export", PackageFiles.scenario(name), "--swift"])
    if let reason = Self.unsupportedScenarios[name] {
      #expect(outcome.status == 65 && outcome.output.isEmpty)
      #expect(outcome.errors.contains(reason) && outcome.errors.contains("^"), "\(outcome.errors)")
    } else {
      #expect(outcome.status == 0, "\(name): \(outcome.errors)")
      #expect(outcome.output.hasPrefix("// Written by `cdprof export` from "))
      #expect(outcome.output.split(separator: "\n").allSatisfy { $0.last != " " })
    }
  }

  /// Returns the path of a scenario and its scale; scenarios with many rows use at most scale 3.
  private static func arguments(_ name: String, scale: Int) -> [String] {
    let scale = name.contains("/") ? scale : min(scale, 3)
    return [PackageFiles.scenario(name)] + (scale == 1 ? [] : ["--scale", String(scale)])
  }

  /// Compiles all programs into one, runs each, and evaluates its log with the scenario.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["CDPROF_EXPORTS"] == "1", "`make exports` runs it"),
    arguments: [1, 10])
  func exportedProgramsCompileAndMeetExpectations(scale: Int) throws {
    var files: [String] = []
    var cases: [String] = []
    let exported = PackageFiles.scenarios.filter { Self.unsupportedScenarios[$0] == nil }
    for (number, name) in exported.enumerated() {
      let arguments = Self.arguments(name, scale: scale)
      let text = try program.run(["export", "--swift"] + arguments).output
      let parts = text.components(separatedBy: "// MARK: Start")
      try #require(parts.count == 2)
      let type = try #require(parts[0].firstMatch(of: /enum (\w+Program) \{/)).1
      let file = "all/Program\(number).swift"
      _ = try program.folder.write(parts[0], to: file)
      files.append(file)
      cases.append("    case \"\(name)\": try \(type).run()")
    }
    let main = """
      import OpenCoreData

      let name = CommandLine.arguments[1]
      Thread {
        do {
          switch name {
      \(cases.joined(separator: "\n"))
          default: exit(64)
          }
          exit(0)
        } catch {
          FileHandle.standardError.write(Data("\\(error)".utf8))
          exit(1)
        }
      }.start()
      dispatchMain()

      """
    _ = try program.folder.write(main, to: "all/main.swift")
    let compiler = try ExportCompiler(program)
    let compiled = try compiler.compile(files + ["all/main.swift"], to: "all.out")
    try #require(compiled.status == 0, "\(compiled.output)")
    for name in exported {
      let log = try compiler.run("all.out", [name, "-com.apple.CoreData.SQLDebug", "1"])
      #expect(log.status == 0, "\(name): \(log.output.suffix(2_000))")
      #expect(!log.output.contains("was to fail with"), "\(name)")
      _ = try program.folder.write(log.output, to: "one.log")
      let evaluated = try program.run(
        ["log", "one.log", "--expect"] + Self.arguments(name, scale: scale))
      if let line = Self.knownDifferences[name] {
        #expect(
          evaluated.status == 2 && evaluated.output.contains(line), "\(name): \(evaluated.output)")
      } else {
        #expect(evaluated.status == 0, "\(name): \(evaluated.output)\(evaluated.errors)")
      }
    }
  }

  /// Only the number of rows and the comment with the log command depend on the scale.
  @Test func exportedProgramsCreateRowsForTheScale() throws {
    let arguments = ["export", PackageFiles.scenario("08-performance/who-sorts.yml"), "--swift"]
    let small = try program.run(arguments).output
    let large = try program.run(arguments + ["--scale", "10"]).output
    let differences = zip(small.split(separator: "\n"), large.split(separator: "\n"))
      .filter { $0 != $1 }.map { String($1) }
    #expect(differences.count == 2)
    #expect(differences.first?.hasSuffix("08-performance/who-sorts.yml --scale 10") == true)
    #expect(differences.last?.contains("rows.insert(1000, \"Mood\")") == true, "\(differences)")
  }

  @Test func packageExportDoesNotReplaceForeignFiles() throws {
    let arguments = ["export", PackageFiles.faults, "--swift", "--out", "mine"]
    let written = try program.run(arguments)
    #expect(written.status == 0)
    #expect(written.output == "written: mine/Package.swift, mine/Sources/faults/main.swift\n")
    #expect(try program.run(arguments).status == 0, "its own files can be replaced")
    let manifest = try String(
      contentsOf: program.folder.file("mine/Package.swift"), encoding: .utf8)
    #expect(manifest.contains(".executableTarget(name: \"faults\""))
    _ = try program.folder.write("let mine = 1\n", to: "mine/Sources/faults/main.swift")
    let rejected = try program.run(arguments)
    #expect(rejected.status == 65)
    #expect(rejected.errors.contains("mine/Sources/faults/main.swift exists and wasn't"))
  }
}
