import ArgumentParser
import Foundation
import OpenCoreData
import Profiling
import RunReports
import RunResults
import ScenarioLanguage
import WorkbenchServer
import WorkbenchText

/// `cdprof course`: writes scenarios as a site of lessons.
struct Course: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Write a folder of scenarios as a static site: contents, lessons, and glossary.",
    discussion: """
      The site works from a file and from any web server, and loads no external resources.

      Exit status: 1 if a step fails, 2 if an expectation isn't met, 65 if a scenario or a \
      result is invalid, 66 if a result is missing or the folder contains no scenario.
      """)

  @Argument(
    help: ArgumentHelp("A folder of scenarios, with its subfolders.", valueName: "folder"),
    completion: .directory)
  var folder: String

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out = "Course"

  @Option(
    help: ArgumentHelp(
      """
      The folder of the results of `run FOLDER --report json --out DIR`; by default, the scenarios \
      run.
      """, valueName: "dir"), completion: .directory)
  var results: String?

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  func execute(_ console: Console) throws -> ExitStatus {
    let course = try CourseFolder(folder)
    let pages = course.pages
    let site = URL(fileURLWithPath: out, isDirectory: true)
    let others = try pages.otherPages()
    // Before anything runs or is written.
    for path in pages.lessons.map({ "\($0.name).html" }) + others.map({ $0.path }) {
      try OutputFile.check(site.appendingPathComponent(path), force: force)
    }
    var status = ExitStatus.success
    for lesson in pages.lessons {
      guard let scenario = course.scenarios[lesson.name] else { continue }
      let result = try result(of: scenario, named: lesson.name)
      if !result.passes { status = status.worse(.expectationNotMet) }
      try write(pages.page(of: lesson, result), to: "\(lesson.name).html", in: site)
    }
    for page in others { try write(page.html, to: page.path, in: site) }
    console.write([Messages.written([site.appendingPathComponent("index.html").relativePath])])
    return status
  }

  private func result(of scenario: Scenario, named name: String) throws -> RunResult {
    if let results { return try ResultFile.read(at: "\(results)/\(name).json") }
    let scratch = try ScratchFolders.make()
    defer { ScratchFolders.remove(scratch) }
    return try ScenarioRunner(scenario: scenario, outputDirectory: scratch).run()
  }

  private func write(_ page: String, to path: String, in site: URL) throws {
    let url = site.appendingPathComponent(path)
    try OutputFile.check(url, force: force)
    try OutputFile.makeFolder(url.deletingLastPathComponent())
    try OutputFile.write(Data(page.utf8), to: url, force: force)
  }
}
