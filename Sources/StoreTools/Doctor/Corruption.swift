import Foundation
import SQLiteDriver

/// The difference between a corrupt file and one that can't be read.
///
/// To SQLite's check of a file, a page that the file system can't read is corrupt, too. So if it
/// reports that a file is corrupt, the file is read, and SQLite is asked again.
enum Corruption {
  /// Returns the result of a closure, which is called again if the file seems to be corrupt.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - isReported: Returns whether a result reports that the file is corrupt.
  ///   - body: Gets whether it's called again.
  /// - Throws: A `SQLiteError` if a file can't be read, or the error of the closure.
  static func confirming<Result>(
    _ url: URL, by isReported: (Result) -> Bool = { _ in false },
    _ body: (_ isConfirmed: Bool) throws -> Result
  ) throws -> Result {
    do {
      let result = try body(false)
      guard isReported(result) else { return result }
    } catch let error as SQLiteError where error.code.isOfCorruptFile {
      // It's confirmed below.
    }
    try StoreFileInspection(path: url.path).readFiles()
    return try body(true)
  }
}

extension SQLiteError {
  /// Whether the cause is what the file contains, as opposed to a file that can't be read, is
  /// locked, or takes too much memory.
  var isOfContent: Bool {
    code.isOfCorruptFile || code.primary == .error || code.primary == .tooBig
  }
}
