package import Foundation
package import OpenCoreData

/// Reads models from documents, compiled models, and stores.
package enum ModelFile {
  /// Returns the model in a document, a compiled model, or a store.
  ///
  /// This method doesn't modify any file.
  ///
  /// - Throws: `ModelErrors` for a document; an `NSError` for a store.
  package static func read(_ url: URL) throws -> NSManagedObjectModel {
    try isStore(url)
      ? NSManagedObjectModel.inStore(at: url) : NSManagedObjectModel.read(contentsOf: url)
  }

  /// Returns whether a file is a store: it has neither the name nor the first bytes of a model.
  package static func isStore(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
      !isFolder.boolValue, !["mom", "omo"].contains(url.pathExtension),
      url.lastPathComponent != "contents", !InvalidInputError.isSpecial(url.path),
      let file = try? FileHandle(forReadingFrom: url)
    else { return false }
    defer { try? file.close() }
    let head = (try? file.read(upToCount: 16)) ?? Data()
    return !head.starts(with: Data("bplist".utf8)) && !head.starts(with: Data("<".utf8))
  }
}
