package import OpenCoreData

/// Reads a model from wherever one is kept.
package enum ModelFile {
  /// The model of a document, of a compiled model, or the one a store carries.
  ///
  /// - Throws: `ModelErrors` of a document; the store's `NSError` otherwise. Nothing is written.
  package static func read(_ url: URL) throws -> NSManagedObjectModel {
    switch url.pathExtension {
    case "xcdatamodel", "xcdatamodeld", "mom", "momd":
      try NSManagedObjectModel.read(contentsOf: url)
    default: try NSManagedObjectModel.inStore(at: url)
    }
  }
}
