import CEmbeddedFiles
import Foundation
import ModelCode
import WorkbenchText

/// The check of the migrations of old stores as a Swift program, in one file.
///
/// The program contains the sources of `checkMigrations(ofStoresIn:to:…)` and the fixture. It
/// compiles with `OpenCoreData`, and is also meant for Core Data on Apple platforms. Its arguments
/// replace the paths of the stores, the model, and the mapping models.
package struct MigrationExport {
  /// What the program checks.
  package struct Request {
    /// The path of the folder of old stores.
    package var stores: String
    /// The path of the model.
    package var model: String
    /// The version of the model; `nil` if it's a single one.
    package var version: String?
    /// The configuration of the model that the app opens the stores with; `nil` for all entities.
    package var configuration: String?
    /// The path of a folder with mapping models; `nil` for none.
    package var mappings: String?
    /// The path of a fixture as JSON; `nil` to compare nothing.
    package var fixture: String?
    /// Whether the stores are migrated version by version.
    package var isStepByStep: Bool

    /// Creates a request.
    package init(
      stores: String, model: String, version: String?, configuration: String?, mappings: String?,
      fixture: String?, isStepByStep: Bool
    ) {
      (self.stores, self.model, self.version) = (stores, model, version)
      (self.configuration, self.mappings) = (configuration, mappings)
      (self.fixture, self.isStepByStep) = (fixture, isStepByStep)
    }
  }

  private static let sources = [
    String(cString: embedded_MigrationCheck_swift()),
    String(cString: embedded_MigrationSuccessors_swift()),
    String(cString: embedded_MigrationReport_swift()),
    String(cString: embedded_MigrationFixture_swift()),
  ]

  private let request: Request
  private let fixture: String
  private let name: String

  /// Creates the export.
  ///
  /// - Throws: `InvalidInputError` if the fixture can't be read or isn't one.
  package init(_ request: Request) throws {
    self.request = request
    let model = URL(fileURLWithPath: request.model).deletingPathExtension().lastPathComponent
    let letters = model.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }
    name = "\(String(String.UnicodeScalarView(letters)))Migrations"
    fixture = try request.fixture.map(Self.readFixture) ?? #"{"keys": {}, "objects": {}}"#
  }

  private static func readFixture(_ path: String) throws -> String {
    let file = try InputFile.read(path, limit: InputLimits.fixtureSize)
    let value = try? JSONSerialization.jsonObject(with: file) as? [String: Any]
    guard let value, value["objects"] is [String: Any], value["keys"] is [String: Any] else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) isn't a fixture",
        nextStep: "write JSON with \"keys\" and \"objects\"")
    }
    let data = try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .prettyPrinted])
    return String(decoding: data, as: UTF8.self)
  }

  /// The program's package.
  package var package: ExportedPackage {
    ExportedPackage(name: name, source: request.model, program: program)
  }

  /// The contents of the program's only file, `main.swift`.
  package var program: String {
    var lines = SwiftLines()
    lines.add(
      [
        "\(OutputMark.program) from \(request.model).", "//",
        "// Migrates a copy of each store in a folder, and compares it with the fixture below:",
        "//",
        "//     swift run \(name) [STORES [MODEL [MAPPINGS]]]", "//",
        "// On a Mac, MODEL is a .momd (xcrun momc \(CommandWord.quoted(request.model)) Model.momd), and",
        "// mapping models are .cdm files (xcrun mapc). Add the classes of migration policies to this",
        "// package.",
        "",
      ].map(SwiftLines.oneLine))
    lines.add([
      "#if canImport(CoreData)", "  import CoreData", "#else", "  import OpenCoreData", "#endif",
      "",
    ])
    for source in Self.sources {
      let text = source.replacing("public import OpenCoreData\n", with: "")
        .replacing("import OpenCoreData\n", with: "")
      lines.add(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }
    writeStart(to: &lines)
    return lines.lines.joined(separator: "\n") + "\n"
  }

  private func writeStart(to lines: inout SwiftLines) {
    lines.line("/// The expected content of each migrated store.")
    lines.line("let expected: [String] = [")
    lines.add(fixture.split(separator: "\n").map { "  \(SwiftNames.literal(String($0)))," })
    lines.add(["]", "", ScenarioExport.start, ""])
    lines.block("func path(_ position: Int, _ other: String) -> URL") { lines in
      lines.line("let paths = CommandLine.arguments")
      lines.line("return URL(fileURLWithPath: paths.count > position ? paths[position] : other)")
    }
    let mappings = request.mappings.map(SwiftNames.literal) ?? "\"\""
    lines.gap()
    lines.block("do") { lines in
      lines.add([
        "let file = path(2, \(SwiftNames.literal(request.model)))",
        "let version: String? = \(request.version.map(SwiftNames.literal) ?? "nil")",
        "let suffix = file.pathExtension == \"momd\" ? \"mom\" : \"xcdatamodel\"",
        "let url = version.map { file.appendingPathComponent(\"\\($0).\\(suffix)\") } ?? file",
      ])
      lines.block("guard let model = NSManagedObjectModel(contentsOf: url) else") { lines in
        lines.add(["print(\"\\(url.path) isn't a model\")", "exit(66)"])
      }
      lines.add([
        "let report = try checkMigrations(",
        "  ofStoresIn: path(1, \(SwiftNames.literal(request.stores))),",
        "  to: model, configuration: \(request.configuration.map(SwiftNames.literal) ?? "nil"),",
        "  versions: version == nil ? nil : file,",
        "  mappingModelsIn: [Bundle(path: path(3, \(mappings)).path)].compactMap { $0 },",
        "  by: \(request.isStepByStep ? ".stepByStep" : ".automatic"),",
        "  matching: JSONDecoder().decode(MigrationFixture.self, from: Data(expected.joined().utf8)))",
        "print(report)", "exit(report.passes ? 0 : 2)",
      ])
    }
    lines.block("catch") { lines in
      lines.add(["print(\"\\(error)\")", "exit(1)"])
    }
  }
}
