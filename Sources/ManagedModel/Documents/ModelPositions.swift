/// The positions of entities and their members in a model document.
package struct ModelPositions {
  private static let maximumSize = 64 << 20

  private let text: DocumentText
  private let entities: [String: DocumentElement]

  /// Reads the positions.
  ///
  /// Cost: one read of the file.
  ///
  /// - Parameter url: The `contents` of a `.xcdatamodel`.
  /// - Throws: An error if the file can't be read or isn't well-formed XML.
  package init(of url: URL) throws(ModelErrors) {
    let data = try BoundedFile.read(url, limit: Self.maximumSize)
    let bytes = try DocumentEncoding.utf8(data, file: url.path)
    text = DocumentText(file: url.path, bytes: bytes)
    let root = try DocumentParser.parse(bytes, text: text)
    entities = Dictionary(
      root.children.filter { $0.name == "entity" }.compactMap { element in
        element.attributes["name"].map { ($0, element) }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the position of a member of an entity, or else that of the entity; nil if it isn't in the
  /// document.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - member: The name of a property or index.
  package func position(
    entity: String, member: String? = nil
  ) -> (file: String, line: Int, column: Int)? {
    guard let element = entities[entity] else { return nil }
    let child = member.flatMap { name in
      element.children.first { $0.attributes["name"] == name }
    }
    let position = text.position(of: (child ?? element).offset)
    return (text.file, position.line, position.column)
  }
}
