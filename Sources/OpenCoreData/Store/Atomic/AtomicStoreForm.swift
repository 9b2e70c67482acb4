/// How a store that is read and written whole is written down.
enum AtomicStoreForm {
  case xml
  case binary

  /// The form of a type of store; nil for other types.
  init?(_ type: NSPersistentStore.StoreType) {
    switch type {
    case .xml: self = .xml
    case .binary: self = .binary
    default: return nil
    }
  }

  /// Apple's name of the type of store.
  var storeType: String {
    switch self {
    case .xml: NSXMLStoreType
    case .binary: NSBinaryStoreType
    }
  }

  /// - Throws: what writing the metadata as a property list throws.
  func data(_ document: StoreDocument) throws -> Data {
    switch self {
    case .xml: try document.xml()
    case .binary: try document.propertyList()
    }
  }

  /// - Throws: the first place where the bytes are no document; one whose keys have come to an end.
  func document(_ data: Data) throws(StoreDocument.Problem) -> StoreDocument {
    let document =
      switch self {
      case .xml: try StoreDocumentParser.parse(data)
      case .binary: try StoreDocument(propertyList: data)
      }
    guard document.lastKey < Int64.max / 2 else {
      throw StoreDocument.Problem("it has the key \(document.lastKey), which leaves no room.")
    }
    return document
  }
}
