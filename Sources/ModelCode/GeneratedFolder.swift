package import Foundation

/// A folder that generated files are written to.
package struct GeneratedFolder {
  /// What writing a file came to.
  package enum Outcome: String, Sendable {
    case written
    /// The file had the same text already, and was left alone.
    case unchanged
  }

  /// A file that was written by hand and has the name of a generated one.
  package struct Occupied: Error, CustomStringConvertible {
    /// The files' paths.
    package let paths: [String]

    /// Says which files, and what to do.
    package var description: String {
      paths.map { "\($0): the file was not written by cdprof generate, so it isn't replaced." }
        .joined(separator: "\n")
        + "\nMove it away, choose another folder, keep your classes with --style extension, "
        + "or replace the files with --force."
    }
  }

  private let url: URL
  private let force: Bool

  /// - Parameters:
  ///   - url: The folder, which is made when it is missing.
  ///   - force: Whether files that weren't generated may be replaced.
  package init(_ url: URL, force: Bool = false) {
    self.url = url
    self.force = force
  }

  /// Writes the files, or none when one of their places is taken.
  ///
  /// Files that have the text already keep their dates, so that nothing is compiled again.
  ///
  /// - Returns: What happened to each file, in the order given.
  /// - Throws: `Occupied`, or an error of the file system.
  package func write(_ files: [GeneratedFile]) throws -> [(path: String, outcome: Outcome)] {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let places = files.map { ($0, url.appendingPathComponent($0.name)) }
    let taken = places.filter { !isReplaceable($1) }
    guard taken.isEmpty else { throw Occupied(paths: taken.map(\.1.relativePath)) }
    return try places.map { file, place in
      let data = Data(file.text.utf8)
      if (try? Data(contentsOf: place)) == data { return (place.relativePath, .unchanged) }
      try data.write(to: place, options: .atomic)
      return (place.relativePath, .written)
    }
  }

  private func isReplaceable(_ place: URL) -> Bool {
    var status = stat()
    guard lstat(place.path, &status) == 0 else { return true }
    // A link is replaced itself; a folder, pipe, or device never is.
    guard stat(place.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return false }
    if force { return true }
    guard let data = try? Data(contentsOf: place) else { return false }
    return data.starts(with: Data(GeneratedFile.marker.utf8))
  }
}
