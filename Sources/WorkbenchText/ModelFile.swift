package import Foundation
package import OpenCoreData

/// Reads a model from wherever one is kept.
package enum ModelFile {
  /// The model of a document, of a compiled model, or the one a store carries.
  ///
  /// - Throws: `ModelErrors` of a document; the store's `NSError` otherwise. Nothing is written.
  package static func read(_ url: URL) throws -> NSManagedObjectModel {
    try isStore(url)
      ? NSManagedObjectModel.inStore(at: url) : NSManagedObjectModel.read(contentsOf: url)
  }

  /// Whether a path is that of a store: a file with neither the name nor the first
  /// bytes of a model.
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
