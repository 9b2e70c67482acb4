import Foundation

/// The compiled form of a model: a keyed archive, as in a `.mom` file and in a store.
package enum ModelArchive {
  /// Reads a model from the model cache of a store, `Z_MODELCACHE.Z_CONTENT`.
  ///
  /// An uncompressed archive is also accepted. The model can be changed afterward.
  ///
  /// - Parameter deflated: The bytes of the column.
  /// - Throws: An error for bytes that are corrupt, too large, or not a model.
  package static func read(deflated: [UInt8]) throws(ModelError) -> NSManagedObjectModel {
    guard !deflated.starts(with: Array("bplist".utf8)) else { return try read(bytes: deflated) }
    let bytes: [UInt8]
    do {
      bytes = try RawDeflate.inflate(deflated, limit: ModelLimits.fileSize)
    } catch {
      let reason =
        switch error {
        case .corrupt: "is corrupt."
        case .tooLarge: "is larger than \(ModelLimits.fileSize >> 20) MiB."
        }
      throw ModelError(
        "The model in the store \(reason)",
        nextStep: "Specify a .xcdatamodeld, .xcdatamodel, or .mom file.")
    }
    return try read(bytes: bytes)
  }

  /// Reads a model from the bytes of a `.mom` file.
  ///
  /// The model can be changed afterward.
  ///
  /// - Parameter bytes: The bytes of the file.
  /// - Throws: An error for bytes that are corrupt, too large, or not a model.
  package static func read(bytes: [UInt8]) throws(ModelError) -> NSManagedObjectModel {
    guard bytes.count <= ModelLimits.fileSize else {
      throw ModelError(
        "The compiled model is larger than \(ModelLimits.fileSize >> 20) MiB.",
        nextStep: "Specify a model's .mom file.")
    }
    do {
      return try readAll(bytes: bytes)
    } catch {
      throw error.errors[0]
    }
  }

  /// Reads a model from the bytes of a `.mom` file, as `read(bytes:)` does.
  ///
  /// - Throws: All errors of the model.
  static func readAll(bytes: [UInt8]) throws(ModelErrors) -> NSManagedObjectModel {
    let archive: KeyedArchive
    do {
      archive = try KeyedArchive(bytes)
    } catch {
      throw ModelErrors(error)
    }
    return try ModelArchiveReader(archive).read()
  }

  /// Returns a model in the form of a store's model cache.
  ///
  /// Omits content that only code generation and the model editor use. Uses keys that begin with
  /// `cdprof` for content without a known key in Apple's format.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: A raw DEFLATE stream.
  package static func write(_ model: NSManagedObjectModel) -> [UInt8] {
    RawDeflate.deflate(bytes(of: model))
  }

  /// Returns a model as the content of a `.mom` file.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: The bytes of the file.
  package static func bytes(of model: NSManagedObjectModel) -> [UInt8] {
    var writer = ModelArchiveWriter()
    return writer.write(model)
  }

  /// Returns entities as the content of a `.mom` file that contains nothing else.
  ///
  /// References to entities that aren't among them are lost.
  static func bytes(of entities: [NSEntityDescription]) -> [UInt8] {
    var writer = ModelArchiveWriter()
    return writer.write(entities)
  }
}

/// The property list of a `.momd` folder, `VersionInfo.plist`, with Core Data's hashes of each
/// version.
///
/// Xcode's model compiler writes it. A `.mom` file contains no hashes.
enum VersionInfo {
  private static let hashesKey = "NSManagedObjectModel_VersionHashes"
  private static let checksumsKey = "NSManagedObjectModel_VersionChecksums"

  /// The number of bytes of each of Core Data's hashes.
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
          message, nextStep: "Compile the model again.", file: list.relativePath, isWarning: true))
    }
    guard let data = try? BoundedFile.read(list, limit: ModelLimits.versionListSize),
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
