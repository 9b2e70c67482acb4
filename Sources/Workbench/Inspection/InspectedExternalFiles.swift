import Foundation
import OpenCoreData

/// The large values that a store keeps in files beside it.
package struct InspectedExternalFiles: Sendable, Equatable, Encodable {
  package var count: Int
  package var bytes: Int

  /// Looks into the folder beside a store, which need not exist.
  init(of store: URL) {
    let storage = ExternalStorage(storeURL: store)
    let names = storage.fileNames()
    count = names.count
    bytes = names.reduce(0) { sum, name in
      let path = storage.folder.appendingPathComponent(name).path
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      return sum + (size ?? 0)
    }
  }
}
