package import Foundation
import ManagedModel

/// A generated Swift file.
package struct GeneratedFile: Sendable, Equatable {
  /// The name, including its extension.
  package let name: String
  /// The source code, which begins with `marker`.
  package let text: String

  /// The beginning of the first line of every generated file.
  ///
  /// A file that doesn't begin with it is handwritten and is never replaced.
  package static let marker = "// Written by cdprof generate"

  /// Creates a file.
  ///
  /// `isPublic` indicates whether a public declaration of the body refers to a type of the
  /// framework.
  init(name: String, body: String, model: String, isPublic: Bool) {
    self.name = name
    // Names in the model can contain characters that hide code from a reader.
    text = PrintableText.escaped(
      """
      \(GeneratedFile.marker) from \(PrintableText.line(model)). Changes are lost.

      \(isPublic ? "public import" : "import") OpenCoreData

      \(body)
      """)
  }
}

/// A folder for generated files.
package struct GeneratedFolder {
  /// The result of writing a file.
  package enum Outcome: String, Sendable {
    case written
    /// The file already had the same contents and wasn't written.
    case unchanged
  }

  /// An error for handwritten files with the names of generated ones.
  package struct Occupied: Error, CustomStringConvertible {
    /// The paths of the files.
    package let paths: [String]

    /// The error message, with the files and the suggested fix.
    package var description: String {
      paths.map { "\($0) exists and wasn't written by cdprof generate" }.joined(separator: "\n")
        + "\nmove it away, write to another folder, keep your classes with --style extension, "
        + "or replace the file with --force"
    }
  }

  private let url: URL
  private let force: Bool

  /// Creates a folder for generated files.
  ///
  /// - Parameters:
  ///   - url: The folder, which is created if it doesn't exist.
  ///   - force: Whether to replace files that weren't generated.
  package init(_ url: URL, force: Bool = false) {
    self.url = url
    self.force = force
  }

  /// Writes the files, or none if a path is occupied.
  ///
  /// Files that already have the same contents keep their modification dates, so that they aren't
  /// recompiled. Each file that's replaced is synced to disk; a new one isn't, because syncing
  /// thousands takes minutes. An empty file, which a power loss can leave, is replaced.
  ///
  /// - Returns: The result for each file, in the given order.
  /// - Throws: `Occupied`, or a file system error.
  package func write(_ files: [GeneratedFile]) throws -> [(path: String, outcome: Outcome)] {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let destinations = files.map { ($0, url.appendingPathComponent($0.name)) }
    let taken = destinations.filter { !isReplaceable($1) }
    guard taken.isEmpty else { throw Occupied(paths: taken.map(\.1.relativePath)) }
    return try destinations.map { file, url in
      let data = Data(file.text.utf8)
      if (try? Data(contentsOf: url)) == data { return (url.relativePath, .unchanged) }
      try write(data, to: url)
      return (url.relativePath, .written)
    }
  }

  private func write(_ data: Data, to url: URL) throws {
    let temporary = url.deletingLastPathComponent()
      .appendingPathComponent(".cdprof-\(UUID().uuidString)").path
    var status = stat()
    let replaces = lstat(url.path, &status) == 0
    let permissions = stat(url.path, &status) == 0 ? status.st_mode & 0o777 : nil
    let problem = AtomicFile.write(
      data, to: url.path, through: temporary, permissions: permissions, syncs: replaces)
    if let problem { throw NSError(domain: NSPOSIXErrorDomain, code: Int(problem)) }
  }

  private func isReplaceable(_ url: URL) -> Bool {
    var status = stat()
    guard lstat(url.path, &status) == 0 else { return true }
    // A link itself is replaced; a folder, pipe, or device never is.
    guard stat(url.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return false }
    if force { return true }
    guard let data = try? Data(contentsOf: url) else { return false }
    return data.isEmpty || data.starts(with: Data(GeneratedFile.marker.utf8))
  }
}
