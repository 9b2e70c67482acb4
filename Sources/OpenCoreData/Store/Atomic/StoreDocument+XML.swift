internal import FoundationXML
import ManagedModel

// A store as XML, in the form of public examples of Core Data's XML stores.

extension StoreDocument {
  /// Returns the document as XML, in UTF-8.
  ///
  /// - Throws: The errors of writing the metadata as a property list; 134030 for an identifier, or
  ///   a string in the metadata, that XML can't represent, or a relationship with too many
  ///   destinations, so that it couldn't be read again.
  func xml() throws -> Data {
    guard DocumentCharacters.canHold(uuid),
      uuid == uuid.trimmingCharacters(in: .whitespacesAndNewlines)
    else { throw Self.unwritable("its identifier has control characters, or spaces around it") }
    var text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>\(DocumentCharacters.escaped(uuid))</UUID>
              <nextObjectID>\(lastKey + 1)</nextObjectID>
              <metadata>
      \(try metadataXML())
              </metadata>
          </databaseInfo>

      """
    for object in objects { try object.write(to: &text) }
    text += "</database>\n"
    return Data(text.utf8)
  }

  /// Returns the `plist` element of the metadata, without the header of a separate file.
  private func metadataXML() throws -> String {
    let data = try PropertyListSerialization.data(
      fromPropertyList: metadata, format: .xml, options: 0)
    let text = String(decoding: data, as: UTF8.self)
    guard DocumentCharacters.canHold(text) else {
      throw Self.unwritable("a string in its metadata has characters that XML can't represent")
    }
    return (text.firstRange(of: "<plist").map { String(text[$0.lowerBound...]) } ?? text)
      .trimmingCharacters(in: .newlines)
  }

  fileprivate static func unwritable(_ reason: String) -> NSError {
    NSError.coreData(
      NSPersistentStoreSaveError,
      "The store can't be written as XML: \(reason). Change it, or use a store of another type.")
  }
}

extension StoreDocument.Object {
  /// - Throws: 134030 for a relationship whose destinations the parser wouldn't read.
  fileprivate func write(to text: inout String) throws {
    text += "    <object type=\"\(DocumentCharacters.escaped(entity))\" id=\"z\(key)\">\n"
    for attribute in attributes {
      let (content, isEncoded) = attribute.content
      text += "        <attribute name=\"\(DocumentCharacters.escaped(attribute.name))\""
      text += " type=\"\(attribute.type)\"\(isEncoded ? " encoding=\"base64\"" : "")>"
      text += "\(content)</attribute>\n"
    }
    for relationship in relationships {
      let keys = relationship.keys.map { "z\($0)" }.joined(separator: " ")
      guard keys.utf8.count <= XMLInput.valueSize else {
        throw StoreDocument.unwritable(
          "'\(relationship.name)' of an object of \(entity) has more destinations than can be read")
      }
      text += "        <relationship name=\"\(DocumentCharacters.escaped(relationship.name))\""
      text += " type=\"\(relationship.isToMany ? "0/0" : "1/1")\""
      text += " destination=\"\(DocumentCharacters.escaped(relationship.destination))\""
      text += " idrefs=\"\(keys)\"/>\n"
    }
    text += "    </object>\n"
  }
}

extension StoreDocument.Attribute {
  /// The text between the tags, and whether it's encoded in base 64 because XML can't represent it.
  fileprivate var content: (text: String, isEncoded: Bool) {
    switch value {
    case .null, .toOne: ("", false)
    case .int64(let number): ("\(number)", false)
    case .double(let number): ("\(number)", false)
    case .text(let text):
      DocumentCharacters.canHold(text)
        ? (DocumentCharacters.escaped(text), false)
        : (Data(text.utf8).base64EncodedString(), true)
    case .bytes(let data):
      if type == "uuid", data.count == 16 {
        (data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString, false)
      } else {
        (data.base64EncodedString(), false)
      }
    }
  }
}

/// Reads a store in XML form.
///
/// Entities aren't expanded and nothing outside of the document is read.
final class StoreDocumentParser: NSObject, XMLParserDelegate {
  private var document = StoreDocument(uuid: "", metadata: [:], lastKey: 0)
  private var path: [String] = []
  private var object: StoreDocument.Object?
  private var attribute: (name: String, type: String, isEncoded: Bool)?
  private var characters = ""
  private var problem: StoreDocument.Problem?

  /// Reads a document.
  ///
  /// - Throws: The position of the first error.
  static func parse(_ data: Data) throws(StoreDocument.Problem) -> StoreDocument {
    let bytes: [UInt8]
    do {
      bytes = try DocumentEncoding.utf8(data, file: "")
    } catch {
      let first = error.errors.first
      throw StoreDocument.Problem(
        first?.message ?? "\(error)", at: first.map { ($0.line ?? 1, $0.column ?? 1) })
    }
    let reader = StoreDocumentParser()
    let document = Data(bytes)
    let parser = XMLInput.parser(of: document)
    parser.delegate = reader
    let succeeded = parser.parse()
    if let problem = reader.problem { throw problem }
    guard succeeded, !reader.document.uuid.isEmpty else {
      throw StoreDocument.Problem(
        "it ends too early, or isn't a store: it has no databaseInfo with a UUID.")
    }
    var store = reader.document
    store.metadata = try metadata(in: document)
    store.lastKey = max(store.lastKey, store.objects.map(\.key).max() ?? 0)
    return store
  }

  /// Returns the property list inside of the document, which is separate XML.
  private static func metadata(
    in data: Data
  ) throws(StoreDocument.Problem) -> [String: Any] {
    let end = data.firstRange(of: Data("</databaseInfo>".utf8))?.lowerBound ?? data.endIndex
    let head = data[..<end]
    guard let first = head.firstRange(of: Data("<plist".utf8)) else { return [:] }
    // The last closing tag is its own: a value can only contain an escaped one.
    guard let last = head.lastRange(of: Data("</plist>".utf8)),
      let values = PropertyList.read(head[first.lowerBound..<last.upperBound]) as? [String: Any]
    else { throw StoreDocument.Problem("the property list in its metadata can't be read.") }
    return values
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    path.append(name)
    characters = ""
    switch path {
    case ["database", "object"]:
      guard let entity = attributes["type"], let key = Self.key(attributes["id"]) else {
        return fail("an object needs a type and an id such as z102.", at: parser)
      }
      object = StoreDocument.Object(entity: entity, key: key)
    case ["database", "object", "attribute"]:
      guard let name = attributes["name"] else {
        return fail("an attribute needs a name.", at: parser)
      }
      attribute = (name, attributes["type"] ?? "", attributes["encoding"] == "base64")
    case ["database", "object", "relationship"]:
      let keys = (attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace)
      let read = keys.compactMap { Self.key(String($0)) }
      guard let name = attributes["name"], read.count == keys.count else {
        return fail("a relationship needs a name and idrefs such as \"z102 z103\".", at: parser)
      }
      object?.relationships.append(
        StoreDocument.Relationship(
          name: name, isToMany: attributes["type"]?.hasSuffix("/1") == false,
          destination: attributes["destination"] ?? "", keys: read))
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    characters += string
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    characters += String(decoding: block, as: UTF8.self)
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    switch path {
    case ["database", "databaseInfo", "UUID"]:
      document.uuid = characters.trimmingCharacters(in: .whitespacesAndNewlines)
    case ["database", "databaseInfo", "nextObjectID"]:
      let number = Int64(characters.trimmingCharacters(in: .whitespacesAndNewlines))
      guard let number, number > 0 else {
        return fail("nextObjectID isn't a number above 0.", at: parser)
      }
      document.lastKey = number - 1
    case ["database", "object", "attribute"]: endAttribute(at: parser)
    case ["database", "object"]:
      if let object { document.objects.append(object) }
      object = nil
    default: break
    }
    _ = path.popLast()
  }

  private func endAttribute(at parser: XMLParser) {
    guard let attribute else { return }
    var text = characters
    if attribute.isEncoded {
      guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
        return fail("the value of '\(attribute.name)' isn't a string in base 64.", at: parser)
      }
      text = String(decoding: data, as: UTF8.self)
    }
    object?.attributes.append(
      StoreDocument.Attribute(name: attribute.name, type: attribute.type, value: .text(text)))
    self.attribute = nil
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    fail("it isn't well-formed XML.", at: parser)
  }

  private func fail(_ message: String, at parser: XMLParser) {
    guard problem == nil else { return }
    problem = StoreDocument.Problem(message, at: (parser.lineNumber, parser.columnNumber))
    parser.abortParsing()
  }

  /// Returns the number of an ID such as `z102`.
  private static func key(_ text: String?) -> Int64? {
    guard let text, text.hasPrefix("z"), let key = Int64(text.dropFirst()), key > 0 else {
      return nil
    }
    return key
  }
}
