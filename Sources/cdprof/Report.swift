import ArgumentParser
import Foundation
import RunReports
import WorkbenchText

/// `cdprof report`: renders results again, without running anything.
struct Report: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Render results that were written with --report json, without running anything.",
    discussion: """
      Without --out, one result in one format goes to standard output. \
      Ends with 65 when a file isn't a result, with its line and column; 66 when it is missing.
      """)

  @Argument(
    help: ArgumentHelp("The results, as JSON; `-` for standard input.", valueName: "result.json"),
    completion: .file())
  var files: [String]

  @Option(
    help: ArgumentHelp(
      "The report formats, separated by commas: \(ReportFormat.words).", valueName: "formats"),
    completion: .words(ReportFormat.allCases.map(\.rawValue)),
    transform: { try ReportFormats($0) })
  var report = ReportFormats([.text])

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out: String?

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  func validate() throws {
    if out == nil, report.formats.count > 1 || files.count > 1 {
      throw ValidationError("Several reports need a folder: add --out DIR.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let formats = report.formats
    // Everything is read before anything is written.
    let results = try files.map { ($0, try ResultFile.read(at: $0)) }
    guard let out else {
      for (_, result) in results {
        for format in formats { console.say(try format.data(result)) }
      }
      return .success
    }
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    let named = results.map { file, result in (name(of: file), result) }
    for (name, _) in named {
      for format in formats {
        try OutputFile.check(format.url(named: name, in: folder), force: force)
      }
    }
    let written = try named.flatMap { name, result in
      try formats.map {
        try $0.write(result, named: name, in: folder, force: force).relativePath
      }
    }
    console.say([Messages.written(written)])
    return .success
  }

  /// What the reports of a result are called; `stdin` for standard input.
  private func name(of file: String) -> String {
    file == InputFile.standardInput
      ? "stdin" : URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
  }
}
