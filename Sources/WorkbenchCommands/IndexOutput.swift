import Foundation
import OpenCoreData
import RunReports
import WorkbenchText

/// The index page of `cdprof run FOLDER --report html`.
struct IndexOutput {
  private let url: URL
  private let title: String
  private let command: String
  private let force: Bool

  /// Returns `nil` if no argument is a folder, or if no pages are written.
  init?(_ run: Run) {
    guard run.report.formats.contains(.html),
      let folder = run.files.first(where: IndexOutput.isFolder)
    else { return nil }
    url = URL(fileURLWithPath: run.out, isDirectory: true)
      .appendingPathComponent("\(RunIndex.name).html")
    title = URL(fileURLWithPath: folder).standardizedFileURL.lastPathComponent
    command = "cdprof run \(run.files.joined(separator: " ")) --report html"
    force = run.force
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// Checks that the page can be written.
  ///
  /// - Throws: An `InvalidInputError` if there's a file that `cdprof` didn't write, unless --force
  ///   is given.
  func check() throws {
    try OutputFile.check(url, force: force)
  }

  /// Writes the page, and returns its path.
  func write(_ entries: [RunIndex.Entry]) throws -> String {
    let page = try RunIndex(title: title, entries: entries, command: command).page()
    try OutputFile.makeFolder(url.deletingLastPathComponent())
    try OutputFile.write(Data(page.utf8), to: url, force: force)
    return url.relativePath
  }
}
