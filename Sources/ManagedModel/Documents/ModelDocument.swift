/// Reads the model documents of Xcode: `.xcdatamodel` and `.xcdatamodeld`.
package enum ModelDocument {
  private static let maximumSize = 64 << 20

  /// Reads a model as far as its document makes sense, with what is wrong with it.
  ///
  /// - Parameter url: A `.xcdatamodel` folder or the `contents` file of one.
  /// - Throws: An error about the file, or about a document that is not about a model.
  package static func readWithProblems(
    url: URL
  ) throws(ModelErrors) -> (model: NSManagedObjectModel, problems: [ModelError]) {
    let contents = try ModelVersions(url).file(version: nil)
    let data = try BoundedFile.read(contents, limit: maximumSize)
    let bytes = try DocumentEncoding.utf8(data, file: contents.path)
    let text = DocumentText(file: contents.path, bytes: bytes)
    let builder = ModelBuilder(text: text)
    let model = try builder.buildWithProblems(DocumentParser.parse(bytes, text: text))
    return (model, builder.errors.sorted)
  }

  /// Writes a model as the `contents` file of a `.xcdatamodel` folder, in Xcode's form.
  ///
  /// - Parameter model: A model in which `validate()` finds no errors.
  /// - Returns: The text of the file, and what of the model such a file cannot hold: default values
  ///   of bytes, notes that are no texts, predicates beyond limits and patterns, a second identifier.
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
  ///   - file: The file name that errors give.
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
