import ManagedModel

/// Where a store keeps large binary values outside of its file, and how its rows name them.
///
/// A value of an attribute with `allowsExternalBinaryDataStorage` begins with a byte that says where
/// the rest is: 1, in the row itself; 2, in a file, whose name follows.
package struct ExternalStorage: Sendable {
  /// The folder beside the store, `.NAME_SUPPORT/_EXTERNAL_DATA`.
  ///
  /// It need not exist.
  package let folder: URL

  /// The folder of a store's file.
  package init(storeURL: URL) {
    let name = storeURL.deletingPathExtension().lastPathComponent
    folder = storeURL.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
      .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
  }

  static let inRow: UInt8 = 1
  static let inFile: UInt8 = 2

  /// The name of the file that a column's bytes lead to; nil for a value in the row, and for bytes
  /// that name no file.
  ///
  /// A name is a UUID; anything else is taken for a value, so that no path is ever made of it.
  package static func fileName(in bytes: [UInt8]) -> String? {
    guard bytes.first == inFile, (37...38).contains(bytes.count) else { return nil }
    let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    return UUID(uuidString: name) == nil ? nil : name
  }

  /// The names of all files there, without those that systems add.
  ///
  /// Empty when there is no folder.
  package func fileNames() -> Set<String> {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return Set((names ?? []).filter { !$0.hasPrefix(".") })
  }
}
