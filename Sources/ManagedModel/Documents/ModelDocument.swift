/// Reads the model documents of Xcode: `.xcdatamodel` and `.xcdatamodeld`.
package enum ModelDocument {
  /// Reads a model as far as possible, with its problems.
  ///
  /// - Parameter url: A `.xcdatamodel` folder or its `contents` file.
  /// - Throws: An error if the file can't be read or isn't a model document.
  package static func readWithProblems(
    url: URL
  ) throws(ModelErrors) -> (model: NSManagedObjectModel, problems: [ModelError]) {
    let contents = try ModelVersions(url).file(version: nil)
    let data = try BoundedFile.read(contents, limit: ModelLimits.fileSize)
    let bytes = try DocumentEncoding.utf8(data, file: contents.relativePath)
    let text = DocumentText(file: contents.relativePath, bytes: bytes)
    let builder = ModelBuilder(text: text)
    let model = try builder.buildWithProblems(DocumentParser.parse(bytes, text: text))
    return (model, builder.errors.sorted)
  }

  /// Writes a model as the `contents` file of a `.xcdatamodel` folder, in Xcode's form.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: The text of the file, and the parts of the model that the format can't represent:
  ///   default values of binary data and of attributes whose type has no default value in the
  ///   editor, `userInfo` values that aren't strings, control characters, validation predicates
  ///   other than limits and patterns, their messages, a second version identifier, the
  ///   localization dictionary, and the order and other properties of fetch requests.
  package static func text(
    of model: NSManagedObjectModel
  ) -> (text: String, losses: [ModelError]) {
    var writer = ModelDocumentWriter()
    let text = writer.write(model)
    return (text, writer.losses)
  }

  /// Reads a model from the bytes of a `contents` file.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - file: The file name for errors.
  /// - Throws: Every error of the file, with line and column.
  package static func read(
    data: Data, file: String
  ) throws(ModelErrors) -> NSManagedObjectModel {
    let bytes = try DocumentEncoding.utf8(data, file: file)
    let text = DocumentText(file: file, bytes: bytes)
    let root = try DocumentParser.parse(bytes, text: text)
    return try ModelBuilder(text: text).build(root)
  }
}

extension NSManagedObjectModel {
  /// Creates a model from a document or a compiled model.
  ///
  /// `.xcdatamodeld` and `.xcdatamodel` folders, `.mom` files, and `.momd` folders are supported;
  /// Core Data's initializer supports compiled models only. The model is mutable. **Cost:** one
  /// read of the file.
  ///
  /// - Parameter url: The file or folder.
  /// - Returns: `nil` if the file doesn't exist or isn't a model. Invalid parts are omitted.
  ///   `read(contentsOf:)` reports them.
  public convenience init?(contentsOf url: URL) {
    guard let model = try? NSManagedObjectModel.read(contentsOf: url) else { return nil }
    self.init()
    moveContents(from: model)
  }

  /// Reads a model from a document or a compiled model.
  ///
  /// - Parameters:
  ///   - url: A `.xcdatamodeld` or `.momd` folder, a `.xcdatamodel` folder, its `contents`, or a
  ///     `.mom` file, which is recognized by its first bytes.
  ///   - version: The version to read, with or without its extension; `nil` for the current one.
  /// - Returns: The model. Its `readerWarnings` are the problems that don't make it unusable.
  /// - Throws: All errors of a document, or the error of a compiled model.
  package static func read(
    contentsOf url: URL, version: String? = nil
  ) throws(ModelErrors) -> NSManagedObjectModel {
    let file = try ModelVersions(url).file(version: version)
    guard file.pathExtension != "omo" else {
      throw ModelErrors(
        ModelError(
          "Optimized models (.omo) can't be read because their format isn't public.",
          nextStep: "Use the .mom file next to it.", file: file.relativePath))
    }
    let data = try BoundedFile.read(file, limit: ModelLimits.fileSize)
    if file.pathExtension == "mom" || data.starts(with: Data("bplist".utf8)) {
      return try readCompiled(data, file: file)
    }
    return try ModelDocument.read(data: data, file: file.relativePath)
  }

  /// Returns the names of the versions of a model on disk, in the order of a file list.
  ///
  /// - Parameter url: As for `read(contentsOf:version:)`; a single model has one version: itself.
  /// - Throws: An error if there's no such file or folder, or no model in it.
  package static func versions(of url: URL) throws(ModelErrors) -> [String] {
    try ModelVersions(url).names
  }

  /// Returns the name of a model's current version on disk.
  ///
  /// - Throws: The errors of `versions(of:)`, and an error if the folder doesn't name it.
  package static func currentVersion(of url: URL) throws(ModelErrors) -> String {
    try ModelVersions(url).current()
  }

  /// Returns the file of a model's version on disk: a document's `contents`, or a `.mom`.
  ///
  /// - Throws: The errors of `read(contentsOf:version:)`. The file itself isn't read.
  package static func file(of url: URL, version: String? = nil) throws(ModelErrors) -> URL {
    try ModelVersions(url).file(version: version)
  }

  private static func readCompiled(
    _ data: Data, file: URL
  ) throws(ModelErrors) -> NSManagedObjectModel {
    guard !data.starts(with: Data("<?xml".utf8)) else {
      throw ModelErrors(
        ModelError(
          "The compiled model is an XML property list; only binary property lists can be read.",
          nextStep: "Convert a copy to the binary form: plutil -convert binary1 FILE.",
          file: file.relativePath))
    }
    do {
      let model = try ModelArchive.readAll(bytes: Array(data))
      VersionInfo.record(in: model, readFrom: file)
      model.readerWarnings = model.readerWarnings.map { warning in
        var warning = warning
        warning.file = file.relativePath
        return warning
      }
      return model
    } catch {
      throw ModelErrors(
        error.errors.map { error in
          var error = error
          error.file = file.relativePath
          return error
        })
    }
  }
}
