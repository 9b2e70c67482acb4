import ArgumentParser
import Foundation
import OpenCoreData
import RunReports
import WorkbenchText

/// `cdprof report`: renders saved results without running anything.
struct Report: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Render results saved with --report json, without running anything.",
    discussion: """
      Without --out, a single result in a single format is printed on standard output. \
      --history renders the counts that `cdprof run --history` wrote as a page instead.

      Exit status: 65 if a file isn't a result or a history (the error names the line and column), \
      66 if it's missing.
      """)

  @Argument(
    help: ArgumentHelp("The results, as JSON; `-` for standard input.", valueName: "result.json"),
    completion: .json)
  var files: [String] = []

  @Option(
    help: ArgumentHelp(
      "The history to render as a page with a chart of each count.", valueName: "file"),
    completion: .file(extensions: ["jsonl"]))
  var history: String?

  @Option(
    help: ArgumentHelp(
      """
      The report formats, separated by commas: \(ReportFormat.words). The default is text, and for \
      a history html, its only format.
      """, valueName: "formats"),
    completion: .words(ReportFormat.allCases.map(\.rawValue)),
    transform: { try ReportFormats($0) })
  var report: ReportFormats?

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out: String?

  @OptionGroup
  var labels: LabelOptions

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  func validate() throws {
    guard files.isEmpty == (history != nil) else {
      throw ValidationError(
        files.isEmpty
          ? "Specify the results to render, or --history."
          : "--history can't be combined with results.")
    }
    if history != nil, report.map({ $0.formats != [.html] }) == true {
      throw ValidationError("A history has only one format, html.")
    }
    try labels.check(writesLines: report?.formats.contains(.jsonl) == true)
    if out == nil, (report?.formats.count ?? 1) > 1 || files.count > 1 {
      throw ValidationError("More than one report requires a folder: add --out DIR.")
    }
    var paths: [String: String] = [:]
    for file in files {
      let name = name(of: file)
      if let other = paths.updateValue(file, forKey: name) {
        throw ValidationError(Messages.sameReport(name, other, file))
      }
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    if let history { return try render(history: history, console) }
    let formats = report?.formats ?? [.text]
    // All results are read before anything is written.
    let results = try files.map { ($0, try ResultFile.read(at: $0)) }
    guard let out else {
      for (_, result) in results {
        for format in formats { console.write(try format.data(result, labels: labels.all)) }
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
        try $0.write(
          result, named: name, in: folder, force: force, labels: labels.all
        ).relativePath
      }
    }
    console.write([Messages.written(written)])
    return .success
  }

  /// Writes or prints the page of a history.
  private func render(history path: String, _ console: Console) throws -> ExitStatus {
    let title = (InputFile.name(path) as NSString).lastPathComponent
    let page = try HistoryPage(RunHistory(readingAt: path), title: title).data()
    guard let out else {
      console.write(page)
      return .success
    }
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    let url = ReportFormat.html.url(named: name(of: path), in: folder)
    try OutputFile.check(url, force: force)
    try OutputFile.makeFolder(folder)
    try OutputFile.write(page, to: url, force: force)
    console.write([Messages.written([url.relativePath])])
    return .success
  }

  /// Returns the file name of a result's reports without an extension; `stdin` for standard input.
  private func name(of file: String) -> String {
    file == InputFile.standardInput
      ? "stdin" : URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
  }
}

/// The value of `--report`: report formats, separated by commas.
struct ReportFormats: CustomStringConvertible {
  /// The formats in the order given, without duplicates.
  let formats: [ReportFormat]

  init(_ formats: [ReportFormat]) {
    self.formats = formats
  }

  /// - Throws: A `ValidationError` for an unknown format.
  init(_ words: String) throws {
    formats = try words.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) {
      formats, part in
      let word = part.trimmingCharacters(in: .whitespaces)
      guard let format = ReportFormat(rawValue: word) else {
        let question = NearestName.question(
          for: word, among: ReportFormat.allCases.map(\.rawValue))
        throw ValidationError(
          "unknown report format `\(word)`\(question)\n"
            + "use one or more of: \(ReportFormat.words)")
      }
      if !formats.contains(format) { formats.append(format) }
    }
  }

  var description: String { formats.map(\.rawValue).joined(separator: ",") }
}
