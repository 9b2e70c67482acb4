import Foundation

/// The list in a `.momd` folder, `VersionInfo.plist`, with Core Data's hashes of each version.
///
/// Xcode's model compiler writes it. A `.mom` file contains no hashes.
enum VersionInfo {
  private static let hashesKey = "NSManagedObjectModel_VersionHashes"
  private static let checksumsKey = "NSManagedObjectModel_VersionChecksums"

  /// The bytes of one of Core Data's hashes.
  static let hashSize = 32

  /// Records Core Data's hashes in a model that was read from a compiled version.
  ///
  /// Does nothing if there's no list, or it doesn't contain the version. A list that can't be read,
  /// or that doesn't belong to the model, is ignored with a warning of the model's reader.
  ///
  /// - Parameters:
  ///   - model: The model, as it was read.
  ///   - file: The `.mom` file that it was read from.
  static func record(in model: NSManagedObjectModel, readFrom file: URL) {
    let list = file.deletingLastPathComponent().appendingPathComponent("VersionInfo.plist")
    guard FileManager.default.fileExists(atPath: list.path) else { return }
    func warn(_ message: String) {
      model.readerWarnings.append(
        ModelError(
          message, nextStep: "Compile the model again.", file: list.path, isWarning: true))
    }
    guard let data = try? BoundedFile.read(list, limit: 1 << 20),
      let values = PropertyList.read(data) as? [String: Any]
    else { return warn("The version hashes can't be read, so they're ignored.") }
    guard let versions = values[hashesKey] else { return }
    guard let versions = versions as? [String: Any] else {
      return warn("\(hashesKey) isn't a dictionary, so the version hashes are ignored.")
    }
    let version = file.deletingPathExtension().lastPathComponent
    guard let found = versions[version] else { return }
    guard let hashes = found as? [String: Data], hashes.values.allSatisfy({ $0.count == hashSize })
    else {
      return warn(
        "The version hashes of \(version) aren't \(hashSize) bytes each; they're ignored.")
    }
    let names = Set(model.entities.compactMap(\.name))
    guard names == Set(hashes.keys) else {
      let differing = names.symmetricDifference(hashes.keys).sorted().prefix(3)
      return warn(
        "The version hashes of \(version) are for other entities, so they're ignored: "
          + differing.joined(separator: ", ") + ".")
    }
    for entity in model.entities {
      if let hash = entity.name.flatMap({ hashes[$0] }) { entity.recordVersionHash(hash) }
    }
    if let checksum = (values[checksumsKey] as? [String: Any])?[version] as? String {
      model.recordedChecksum = (checksum, model.digest)
    }
  }
}
