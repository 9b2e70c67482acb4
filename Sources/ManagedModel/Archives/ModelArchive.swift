/// The compiled form of a model: a keyed archive, as in a `.mom` file and in a store.
package enum ModelArchive {
  static let maximumSize = 64 << 20

  /// Reads a model from the model cache of a store, `Z_MODELCACHE.Z_CONTENT`.
  ///
  /// Takes an uncompressed archive as well. The model may be changed afterwards.
  ///
  /// - Parameter deflated: The bytes of the column.
  /// - Throws: An error for bytes that are damaged, too large or no model.
  package static func read(deflated: [UInt8]) throws(ModelError) -> NSManagedObjectModel {
    guard !deflated.starts(with: Array("bplist".utf8)) else { return try read(bytes: deflated) }
    let bytes: [UInt8]
    do {
      bytes = try RawDeflate.inflate(deflated, limit: maximumSize)
    } catch {
      let reason =
        switch error {
        case .damaged: "is damaged."
        case .tooLarge: "is larger than \(maximumSize >> 20) MiB."
        }
      throw ModelError(
        "The model in the store \(reason)",
        nextStep: "Give the model as .xcdatamodeld, .xcdatamodel or .mom.")
    }
    return try read(bytes: bytes)
  }

  /// Reads a model from the bytes of a `.mom` file.
  ///
  /// The model may be changed afterwards.
  ///
  /// - Parameter bytes: The bytes of the file.
  /// - Throws: An error for bytes that are damaged, too large or no model.
  package static func read(bytes: [UInt8]) throws(ModelError) -> NSManagedObjectModel {
    guard bytes.count <= maximumSize else {
      throw ModelError(
        "The compiled model is larger than \(maximumSize >> 20) MiB.",
        nextStep: "Name the .mom file of a model.")
    }
    do {
      return try readAll(bytes: bytes)
    } catch {
      throw error.errors[0]
    }
  }

  /// Reads a model from the bytes of a `.mom` file, as `read(bytes:)`.
  ///
  /// - Throws: Everything that is wrong with it.
  static func readAll(bytes: [UInt8]) throws(ModelErrors) -> NSManagedObjectModel {
    let archive: KeyedArchive
    do {
      archive = try KeyedArchive(bytes)
    } catch {
      throw ModelErrors(error)
    }
    return try ModelArchiveReader(archive).read()
  }

  /// Writes a model as the model cache of a store.
  ///
  /// What only code generation and the model editor use is left out. What Apple's form has no
  /// known key for is under keys that begin with `cdprof`.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: A raw DEFLATE stream.
  package static func write(_ model: NSManagedObjectModel) -> [UInt8] {
    RawDeflate.deflate(bytes(of: model))
  }

  /// Writes a model as the content of a `.mom` file.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: The bytes of the file.
  package static func bytes(of model: NSManagedObjectModel) -> [UInt8] {
    var writer = ModelArchiveWriter()
    return writer.write(model)
  }

  /// Writes entities as the content of a `.mom` file without other content.
  ///
  /// References to entities that aren't among them are lost.
  static func bytes(of entities: [NSEntityDescription]) -> [UInt8] {
    var writer = ModelArchiveWriter()
    return writer.write(entities)
  }
}
