package import Foundation
import ManagedModel
import ModelCode
import WorkbenchText

/// A scenario as a Swift program that uses plain Core Data calls, in one file.
///
/// The program compiles with `OpenCoreData` and is also meant for Core Data on Apple platforms. It
/// creates the scenario's rows and runs each variant cold. Each variant's SQL log is between the
/// lines `cdprof: begin NAME` and `cdprof: end` on standard error, so
/// `cdprof log --expect SCENARIO` can evaluate it.
package struct ScenarioExport {
  /// The line after which the program starts.
  ///
  /// The code before it can be part of another program.
  package static let start = "// MARK: Start"

  private let scenario: Scenario
  private let data: ExportedData
  private let scale: Int
  /// The steps of each variant, with their numbers resolved.
  private let steps: [[Step]]
  /// The name of the type that contains the program, such as `FaultsProgram`.
  package let typeName: String

  /// Creates the export, if every step, the model, and the data can be exported.
  ///
  /// - Parameters:
  ///   - scenario: The scenario to export.
  ///   - scale: The value of `scale` in row counts and in the numbers of steps.
  /// - Throws: `ScenarioDiagnostics` with everything that can't be exported, or a
  ///   `CountExpressionError` if a count or a number has no value.
  package init(_ scenario: Scenario, scale: Int = 1) throws {
    let check = ExportCheck(scenario)
    guard check.diagnostics.isEmpty else { throw ScenarioDiagnostics(check.diagnostics) }
    self.scenario = scenario
    self.scale = scale
    typeName = SwiftIdentifiers.type(scenario.fileName) + "Program"
    var plans: [EntityPlan] = []
    if case .generated(let made) = scenario.data.source { plans = made }
    data = try ExportedData(plans, of: scenario.data, model: scenario.model, scale: scale)
    let counts = try scenario.data.counts(scale: scale)
    let scope = CountExpressionScope(
      rows: EntityCount.totals(counts, in: scenario.model), scale: scale)
    steps = try scenario.variants.map { variant in
      try variant.steps(sharing: scenario.steps).map { try $0.resolved(in: scope) }
    }
  }

  /// The contents of the program's only file, `main.swift`.
  package var program: String {
    var lines = SwiftLines()
    writeHead(to: &lines)
    lines.block("enum \(typeName)") { lines in
      writeRun(to: &lines)
      for (index, variant) in scenario.variants.enumerated() {
        lines.gap()
        ExportedVariant.write(
          variant, steps: steps[index], model: scenario.model,
          named: "variant\(index + 1)", to: &lines)
      }
      lines.gap()
      data.write(to: &lines)
      lines.gap()
      ExportedModel(scenario.model).write(to: &lines)
      lines.gap()
      lines.add(ExportedSupport.lines)
    }
    if steps.joined().contains(where: \.sortsInLocalizedOrder) {
      lines.add(ExportedSupport.selectors)
    }
    writeStart(to: &lines)
    return lines.lines.map(ScenarioExport.withoutBlanksAtEnd).joined(separator: "\n") + "\n"
  }

  /// The program's package.
  package var package: ExportedPackage {
    ExportedPackage(name: scenario.fileName, source: scenario.path, program: program)
  }

  private func writeHead(to lines: inout SwiftLines) {
    let name = CommandWord.quoted(scenario.fileName)
    let head = [
      "\(OutputMark.program) from \(scenario.path).", "//",
      "// \(scenario.name). To run it with Core Data's SQL log and evaluate the log:",
      "//", "//     swift run \(name) -com.apple.CoreData.SQLDebug 1 2> \(name).log",
      "//     cdprof log \(name).log --expect \(CommandWord.quoted(scenario.path))"
        + (scale == 1 ? "" : " --scale \(scale)"), "",
    ]
    lines.add(head.map(SwiftLines.oneLine))
    lines.add([
      "#if canImport(CoreData)", "  import CoreData", "#else", "  import OpenCoreData", "#endif",
      "",
    ])
  }

  private func writeRun(to lines: inout SwiftLines) {
    lines.line("/// Creates the rows, and then runs each variant cold on a copy of them.")
    lines.block("static func run() throws") { lines in
      lines.add([
        "let folder = FileManager.default.temporaryDirectory",
        "  .appendingPathComponent(\(SwiftNames.literal(scenario.fileName)) + \"-\\(UUID())\", "
          + "isDirectory: true)",
        "try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)",
        "defer { try? FileManager.default.removeItem(at: folder) }", "let model = makeModel()",
        "let data = folder.appendingPathComponent(\"data.sqlite\")", "try makeData(data, model)",
      ])
      for (index, variant) in scenario.variants.enumerated() {
        lines.line(
          "try variant(\(SwiftNames.literal(variant.name)), data, model, variant\(index + 1))")
      }
    }
  }

  private func writeStart(to lines: inout SwiftLines) {
    lines.add([
      "", ScenarioExport.start, "", "// Keep the main queue free for main-queue contexts.",
      "let thread = Thread {", "  do {", "    try \(typeName).run()", "    exit(0)", "  } catch {",
      "    \(typeName).say(\"\\(error)\")", "    exit(1)", "  }", "}",
      "thread.stackSize = 1 << 23", "thread.start()", "dispatchMain()",
    ])
  }

  private static func withoutBlanksAtEnd(_ line: String) -> String {
    line.last == " " ? String(line.reversed().drop { $0 == " " }.reversed()) : line
  }
}

/// The package of an exported program.
package struct ExportedPackage {
  /// The name of the package and of its program.
  package let name: String
  /// The path of what was exported.
  let source: String
  /// The contents of `main.swift`.
  let program: String

  /// The files: the manifest and the source file, by path.
  package var files: [(path: String, text: String)] {
    [("Package.swift", manifest), ("Sources/\(name)/main.swift", program)]
  }

  /// Writes the package to a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder to write to.
  ///   - force: Whether files that `cdprof` didn't write may be replaced.
  /// - Returns: The paths of the written files.
  /// - Throws: `InvalidInputError` if such a file exists, before anything is written; otherwise,
  ///   the file system's `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    let files = files.map { (folder.appendingPathComponent($0.path), $0.text) }
    for (url, _) in files { try OutputFile.check(url, force: force) }
    for (url, text) in files {
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try OutputFile.write(Data(text.utf8), to: url, force: force)
    }
    return files.map(\.0.relativePath)
  }

  private var manifest: String {
    """
    // swift-tools-version: 6.0
    \(OutputMark.program) from \(SwiftLines.oneLine(source)).

    import PackageDescription

    // On a Mac, this uses Core Data; elsewhere, OpenCoreData from the folder in CDPROF_PACKAGE.
    #if canImport(Darwin)
      let packages: [Package.Dependency] = []
      let products: [Target.Dependency] = []
    #else
      let packages: [Package.Dependency] = [
        .package(name: "cdprof", path: Context.environment["CDPROF_PACKAGE"] ?? "../cdprof")
      ]
      let products: [Target.Dependency] = [.product(name: "OpenCoreData", package: "cdprof")]
    #endif

    let package = Package(
      name: \(SwiftNames.literal(name)),
      platforms: [.macOS(.v12)],
      dependencies: packages,
      targets: [
        .executableTarget(name: \(SwiftNames.literal(name)), dependencies: products)
      ]
    )

    """
  }
}
