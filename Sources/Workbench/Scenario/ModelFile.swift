package import OpenCoreData

/// Reads a model from wherever one is kept.
package enum ModelFile {
  /// The model of a `.xcdatamodel(d)` document, or the one a store carries.
  ///
  /// - Throws: `ModelErrors` of a document; the store's `NSError` otherwise. Nothing is written.
  package static func read(_ url: URL) throws -> NSManagedObjectModel {
    switch url.pathExtension {
    case "xcdatamodel", "xcdatamodeld": try ModelDocument.read(url: url)
    default: try NSManagedObjectModel.inStore(at: url)
    }
  }
}
