/// An element of a model document, with what is inside it.
final class DocumentElement {
  /// The name of the tag.
  let name: String
  /// The attributes of the tag.
  let attributes: [String: String]
  /// The offset of the tag in the bytes of the document.
  let offset: Int
  /// The elements inside, in their order.
  var children: [DocumentElement] = []
  /// The attributes of the tag that make no sense, as they are written.
  var unread: [String: String] = [:]

  /// Makes an element without children.
  init(name: String, attributes: [String: String], offset: Int) {
    self.name = name
    self.attributes = attributes
    self.offset = offset
  }

  /// The elements inside that have a given name, in their order.
  func children(named name: String) -> [DocumentElement] {
    children.filter { $0.name == name }
  }
}
