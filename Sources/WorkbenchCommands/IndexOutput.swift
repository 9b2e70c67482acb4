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
  private let reloads: Bool

  /// Returns `nil` if no argument is a folder, or if no pages are written.
  init?(_ run: Run) {
    guard run.report.formats.contains(.html),
      let folder = run.files.first(where: IndexOutput.isFolder)
    else { return nil }
    url = URL(fileURLWithPath: run.out, isDirectory: true)
      .appendingPathComponent("\(RunIndex.name).html")
    title = URL(fileURLWithPath: folder).standardizedFileURL.lastPathComponent
    command =
      "cdprof run \(run.files.map(CommandWord.quoted).joined(separator: " ")) --report html"
    force = run.force
    reloads = run.watch
  }

  /// Returns whether a path is that of a folder.
  static func isFolder(_ path: String) -> Bool {
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
    if let script { try OutputFile.check(script, force: force) }
  }

  /// The script that reloads the page; `nil` if nothing does.
  var script: URL? {
    reloads ? PageReload.url(of: RunIndex.name, in: url.deletingLastPathComponent()) : nil
  }

  /// Writes the page, and returns its path.
  func write(_ entries: [RunIndex.Entry]) throws -> String {
    let reload = reloads ? PageReload(of: RunIndex.name) : nil
    let page = try RunIndex(title: title, entries: entries, command: command)
      .page(reloading: reload)
    let folder = url.deletingLastPathComponent()
    try OutputFile.makeFolder(folder)
    try OutputFile.write(Data(page.utf8), to: url, force: force)
    try reload?.write(in: folder, force: force)
    return url.relativePath
  }
}
