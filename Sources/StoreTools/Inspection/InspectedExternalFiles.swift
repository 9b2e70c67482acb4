import Foundation
import OpenCoreData

/// The large values that a store keeps in files beside it.
package struct InspectedExternalFiles: Sendable, Equatable, Encodable {
  package var count: Int
  package var bytes: Int

  /// Looks into the folder beside a store, which need not exist.
  init(of store: URL) {
    let files = ExternalStorage(storeURL: store).files()
    count = files.count
    bytes = files.values.reduce(0) { $0.addingReportingOverflow($1).partialValue }
  }
}
