import Foundation
import Testing

@Suite("Exported checks of migrations")
struct MigrationExportTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// The folder of Moody's models and stores; `nil` if the shared data is absent.
  private static var moody: String? {
    PackageFiles.moody.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().deletingLastPathComponent().path
    }
  }

  /// What the book's policy does, as a user adds it to the exported package.
  private static let policy = """
    #if canImport(CoreData)
      import CoreData
    #else
      import OpenCoreData
    #endif

    final class ContinentPolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let country = manager.destinationInstances(
          forEntityMappingName: mapping.name, sourceInstances: [source]).first
        guard let code = source.value(forKey: "isoContinent") as? Int, code != 0 else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
        request.predicate = NSPredicate(format: "numericISO3166Code == %d", code)
        let known = try manager.destinationContext.fetch(request).first
        let continent = known ?? NSEntityDescription.insertNewObject(
          forEntityName: "Continent", into: manager.destinationContext)
        continent.setValue(code, forKey: "numericISO3166Code")
        country?.setValue(continent, forKey: "continent")
      }
    }

    """

  private static let fixture = """
    {"keys": {"Mood": ["remoteID"], "Country": ["numericISO3166Code"],
              "Continent": ["numericISO3166Code"]},
     "objects": {"Continent": [{"numericISO3166Code": 10004, "countries": ["231", "710"]},
                               {"numericISO3166Code": 10005, "countries": ["704"]}]}}
    """

  @Test(
    "An exported check compiles with OpenCoreData, and migrates Moody's five stores",
    .enabled(if: moody != nil, "the shared data is absent"))
  func moodyIsChecked() throws {
    let moody = try #require(Self.moody)
    _ = try program.folder.write(Self.fixture, to: "fixture.json")
    let outcome = try program.run([
      "export", "--swift", "--migrations", "\(moody)/stores", "--to",
      "\(moody)/Moody.xcdatamodeld", "--version", "Moody 6", "--mappings", moody, "--fixture",
      "fixture.json", "--step-by-step",
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix("// Written by `cdprof export` from "))
    let start = "// MARK: Start\n"
    _ = try program.folder.write(
      outcome.output.replacingOccurrences(
        of: start,
        with: start
          + "ContinentPolicy.registerClass(named: \"Migrations.Country5ToCountry6Policy\")\n"
          + "dup2(2, 1)\n"), to: "check/main.swift")
    _ = try program.folder.write(Self.policy, to: "check/Policy.swift")
    let compiler = try ExportCompiler(program)
    let compiled = try compiler.compile(
      ["check/main.swift", "check/Policy.swift"], to: "check.out")
    try #require(compiled.status == 0, "\(compiled.output)")
    let checked = try compiler.run("check.out", [])
    let passing = checked.output.split(separator: "\n").filter { $0.hasPrefix("✓ ") }
    #expect(passing.count == 5 && checked.status == 0, "\(checked.output)")
    #expect(checked.output.contains("✓ Moody.moody, version Moody\n"))
  }

  @Test("An exported check opens the stores with a configuration that the model has")
  func configurationIsExported() throws {
    _ = try program.folder.write(
      """
      <model><entity name="City"><attribute name="name" attributeType="String"/></entity>
      <entity name="Country"><attribute name="name" attributeType="String"/></entity>
      <configuration name="Local &quot;1&quot;"><memberEntity name="City"/></configuration></model>
      """, to: "Cities.xcdatamodel/contents")
    let export = [
      "export", "--swift", "--migrations", ".", "--to", "Cities.xcdatamodel", "--configuration",
    ]
    let outcome = try program.run(export + [#"Local "1""#])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains(#"to: model, configuration: "Local \"1\"","#))
    let unknown = try program.run(export + ["Cloud"])
    #expect(unknown.status == 65 && unknown.output.isEmpty)
    let problem = "Cities.xcdatamodel has no configuration `Cloud`"
    #expect(unknown.errors.contains(problem), "\(unknown.errors)")
    // The path is the one that was typed.
    #expect(!unknown.errors.contains("/\(problem)"), "\(unknown.errors)")
    #expect(unknown.errors.contains(#"its configurations are: `Local "1"`"#))
  }

  @Test("What can't be exported is an error")
  func invalidRequestsAreRejected() throws {
    let model = PackageFiles.model
    for (arguments, status, error) in [
      (["export", "--swift"], Int32(64), "Specify either a scenario or --migrations."),
      (
        ["export", "--swift", "--migrations", "a"], 64, "--migrations and --to require each other."
      ),
      (["export", "--swift", "x.yml", "--fixture", "a"], 64, "require --migrations"),
      (["export", "--swift", "x.yml", "--configuration", "a"], 64, "require --migrations"),
      (["export", "--swift", "--migrations", "a", "--to", "none"], 66, "no file or folder none"),
    ] as [([String], Int32, String)] {
      let outcome = try program.run(arguments)
      #expect(outcome.status == status && outcome.errors.contains(error), "\(outcome.errors)")
    }
    _ = try program.folder.write("[]", to: "bad.json")
    let outcome = try program.run([
      "export", "--swift", "--migrations", ".", "--to", model, "--fixture", "bad.json",
    ])
    #expect(outcome.status == 65 && outcome.errors.contains("bad.json isn't a fixture"))
  }
}
