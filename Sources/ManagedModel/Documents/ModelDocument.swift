/// Reads the model documents of Xcode: `.xcdatamodel` and `.xcdatamodeld`.
package enum ModelDocument {
  private static let maximumSize = 32 << 20

  /// Reads a model.
  ///
  /// Costs one read of the file and a pass over it; the model may be changed afterwards.
  ///
  /// - Parameters:
  ///   - url: A `.xcdatamodeld` folder with versions, a `.xcdatamodel` folder, or the `contents`
  ///     file of one.
  ///   - version: The version of a `.xcdatamodeld` folder to read, with or without its extension;
  ///     nil for the current one.
  /// - Throws: Every error of the file, with line and column, or one error about the file.
  package static func read(
    url: URL, version: String? = nil
  ) throws(ModelErrors) -> NSManagedObjectModel {
    let contents = try ModelDocumentPackage(url).contents(version: version)
    return try read(
      data: BoundedFile.read(contents, limit: maximumSize), file: contents.path)
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
    let text = DocumentText(file: file, bytes: Array(data))
    let root = try DocumentParser.parse(data, text: text)
    return try ModelBuilder(text: text).build(root)
  }

  /// The names of the versions in a `.xcdatamodeld` folder, sorted as people sort.
  ///
  /// - Parameter url: The folder. A `.xcdatamodel` folder has one version: itself.
  /// - Throws: An error when there is no such folder or no model in it.
  package static func versions(url: URL) throws(ModelErrors) -> [String] {
    try ModelDocumentPackage(url).versions
  }

  /// The name of the version of a `.xcdatamodeld` folder that is current.
  ///
  /// - Parameter url: The folder. A `.xcdatamodel` folder has one version: itself.
  /// - Throws: An error when there is no such folder, no model in it, or no current version.
  package static func currentVersion(url: URL) throws(ModelErrors) -> String {
    try ModelDocumentPackage(url).currentVersion()
  }
}
