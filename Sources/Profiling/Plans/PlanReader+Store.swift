package import Foundation
import OpenCoreData
import SQLiteDriver
package import StatementAnalysis

extension PlanReader {
  /// Creates a reader for a store's file, which isn't modified.
  ///
  /// - Parameters:
  ///   - storeURL: The store file.
  ///   - isOpenElsewhere: Pass `true` if another connection might be writing to the store, so that
  ///     it's read concurrently.
  /// - Throws: A `SQLiteError` if the file can't be opened.
  package convenience init(storeURL: URL, isOpenElsewhere: Bool = false) throws {
    self.init(
      try StoreConnection.open(
        path: storeURL.path, access: isOpenElsewhere ? .reading : .inspecting))
  }
}
