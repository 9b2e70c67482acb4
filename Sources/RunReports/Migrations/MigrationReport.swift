package import Foundation
package import StoreTools
import WorkbenchText

/// The rehearsal of a migration as a self-contained HTML page.
///
/// The page has no script, doesn't load anything, and looks like the page of a run (`HTMLReport`).
package enum MigrationReport {
  /// Returns the page as HTML.
  ///
  /// - Parameters:
  ///   - rehearsal: The rehearsal.
  ///   - command: The command that repeats it.
  ///   - showsValues: Whether to show values of the store, which can be private.
  /// - Throws: An error of the template's parser, which a test rules out.
  package static func page(
    _ rehearsal: MigrationRehearsal, command: String, showsValues: Bool = false
  ) throws -> String {
    try PageTemplate.render(
      PackageResources.migration_html,
      MigrationPage(rehearsal, command: command, showsValues: showsValues))
  }

  /// Returns the file of a store's page: `NAME-migration.html`.
  package static func url(for store: URL, in folder: URL) -> URL {
    folder.appendingPathComponent(
      "\(store.deletingPathExtension().lastPathComponent)-migration.html")
  }

  /// Writes the page and returns its file.
  ///
  /// - Parameters:
  ///   - rehearsal: The rehearsal.
  ///   - folder: The folder to write to; it's created if it doesn't exist.
  ///   - command: The command that repeats the rehearsal.
  ///   - showsValues: Whether to show values of the store, which can be private.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  /// - Throws: An `InvalidInputError` if such a file exists and `force` is false; an `NSError` of the
  ///   file system.
  package static func write(
    _ rehearsal: MigrationRehearsal, in folder: URL, command: String, showsValues: Bool = false,
    force: Bool = false
  ) throws -> URL {
    let page = try page(rehearsal, command: command, showsValues: showsValues)
    try OutputFile.makeFolder(folder)
    let url = url(for: rehearsal.store, in: folder)
    try OutputFile.write(Data(page.utf8), to: url, force: force)
    return url
  }
}
