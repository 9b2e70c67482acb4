package import Foundation
import OpenCoreData
package import WorkbenchText

extension OutputFile {
  /// Copies a store.
  ///
  /// Readers see either the old or the new store. If two processes copy to the same URL, the last
  /// one replaces the store of the first.
  ///
  /// - Parameters:
  ///   - store: The store to copy.
  ///   - url: The destination.
  ///   - marks: Whether to add the mark by which `OutputMark` recognizes the copy; nothing else
  ///     differs.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  /// - Throws: The errors of `write(_:to:force:)`.
  package static func copyStore(_ store: URL, to url: URL, marks: Bool, force: Bool) throws {
    try checkStore(url, force: force)
    try making(url) { copy in
      try StoreFile.copy(from: store, to: copy)
      if marks {
        // Otherwise, a first page in the WAL would replace the marked one.
        try StoreFile.checkpoint(copy)
        try OutputMark.mark(store: copy)
      }
      try placing(at: url) { try StoreFile.move(from: copy, to: url) }
    }
  }
}
