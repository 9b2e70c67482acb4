package import Foundation
import ModelCode
import OpenCoreData
import WorkbenchText

/// A scenario as a program of its own: plain Core Data calls in one Swift file.
///
/// It compiles against `OpenCoreData` and is meant for Apple's framework too. It makes the scenario's rows
/// and runs each variant cold, between the lines `cdprof: begin NAME` and `cdprof: end` on standard
/// error, so that `cdprof log --expect SCENARIO` judges its SQL log.
package struct ScenarioExport {
  /// The line behind which the program is started; what precedes it can be part of another one.
  package static let start = "// MARK: Start"

  private let scenario: Scenario
  private let data: ExportedData
  private let scale: Int
  /// The steps of each variant, their numbers worked out.
  private let steps: [[Step]]
  /// `FaultsProgram`: the type that has all of it.
  package let typeName: String

  /// Checks that every step, the model and the data have a counterpart.
  ///
  /// - Parameter scale: the value of `scale` in the counts of rows and in the numbers of steps.
  /// - Throws: `ScenarioDiagnostics` with everything that has none; `CountExpressionError` for a count or a
  ///   number without a value.
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

  /// The program's only file, `main.swift`.
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
    writeStart(to: &lines)
    return lines.lines.map(ScenarioExport.withoutBlanksAtEnd).joined(separator: "\n") + "\n"
  }

  /// The package of the program: its manifest and its file, by their paths.
  package var package: [(path: String, text: String)] {
    let name = scenario.fileName
    return [
      ("Package.swift", manifest(name)), ("Sources/\(name)/main.swift", program),
    ]
  }

  /// Writes the package to a folder.
  ///
  /// - Parameter force: whether files that `cdprof` didn't write may be replaced.
  /// - Returns: The paths of what was written.
  /// - Throws: `InvalidInputError` for such a file, before anything is written; the file system's `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    let files = package.map { (folder.appendingPathComponent($0.path), $0.text) }
    for (url, _) in files { try OutputFile.check(url, force: force) }
    for (url, text) in files {
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try OutputFile.write(Data(text.utf8), to: url, force: force)
    }
    return files.map(\.0.relativePath)
  }

  private func writeHead(to lines: inout SwiftLines) {
    let name = ScenarioExport.typed(scenario.fileName)
    let head = [
      "\(OutputMark.program) from \(scenario.path).", "//",
      "// \(scenario.name). Run it with Core Data's SQL log, and hold the log against the scenario:",
      "//", "//     swift run \(name) -com.apple.CoreData.SQLDebug 1 2> \(name).log",
      "//     cdprof log \(name).log --expect \(ScenarioExport.typed(scenario.path))"
        + (scale == 1 ? "" : " --scale \(scale)"), "",
    ]
    lines.add(head.map(SwiftLines.oneLine))
    lines.add([
      "#if canImport(CoreData)", "  import CoreData", "#else", "  import OpenCoreData", "#endif",
      "",
    ])
  }

  private func writeRun(to lines: inout SwiftLines) {
    lines.line("/// Makes the rows, then runs each variant, cold, on a copy of them.")
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
      "", ScenarioExport.start, "", "// The main queue stays free for contexts on it.",
      "let thread = Thread {", "  do {", "    try \(typeName).run()", "    exit(0)", "  } catch {",
      "    \(typeName).say(\"\\(error)\")", "    exit(1)", "  }", "}",
      "thread.stackSize = 1 << 23", "thread.start()", "dispatchMain()",
    ])
  }

  private func manifest(_ name: String) -> String {
    """
    // swift-tools-version: 6.0
    \(OutputMark.program) from \(SwiftLines.oneLine(scenario.path)).

    import PackageDescription

    // On a Mac, Apple's framework; elsewhere OpenCoreData, whose folder CDPROF_PACKAGE names.
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

  /// A word as it is typed in a terminal.
  private static func typed(_ word: String) -> String {
    word.contains { $0.isWhitespace || "'\"$&|;()*?<>".contains($0) }
      ? "'\(word.replacing("'", with: "'\\''"))'" : word
  }

  private static func withoutBlanksAtEnd(_ line: String) -> String {
    line.last == " " ? String(line.reversed().drop { $0 == " " }.reversed()) : line
  }
}
