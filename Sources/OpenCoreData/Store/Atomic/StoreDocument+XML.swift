import ManagedModel

// A store as XML, in the form that public examples of Apple's XML stores have.

extension StoreDocument {
  /// The document as XML, in UTF-8.
  ///
  /// - Throws: what writing the metadata as a property list throws.
  func xml() throws -> Data {
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
    for object in objects { object.write(to: &text) }
    text += "</database>\n"
    return Data(text.utf8)
  }

  /// The element `plist` of the metadata, without what stands before it in a file of its own.
  private func metadataXML() throws -> String {
    let data = try PropertyListSerialization.data(
      fromPropertyList: metadata, format: .xml, options: 0)
    let text = String(decoding: data, as: UTF8.self)
    return (text.firstRange(of: "<plist").map { String(text[$0.lowerBound...]) } ?? text)
      .trimmingCharacters(in: .newlines)
  }
}

extension StoreDocument.Object {
  fileprivate func write(to text: inout String) {
    text += "    <object type=\"\(DocumentCharacters.escaped(entity))\" id=\"z\(key)\">\n"
    for attribute in attributes {
      let (content, isEncoded) = attribute.content
      text += "        <attribute name=\"\(DocumentCharacters.escaped(attribute.name))\""
      text += " type=\"\(attribute.type)\"\(isEncoded ? " encoding=\"base64\"" : "")>"
      text += "\(content)</attribute>\n"
    }
    for relationship in relationships {
      text += "        <relationship name=\"\(DocumentCharacters.escaped(relationship.name))\""
      text += " type=\"\(relationship.isToMany ? "0/0" : "1/1")\""
      text += " destination=\"\(DocumentCharacters.escaped(relationship.destination))\""
      text += " idrefs=\"\(relationship.keys.map { "z\($0)" }.joined(separator: " "))\"/>\n"
    }
    text += "    </object>\n"
  }
}

extension StoreDocument.Attribute {
  /// What stands between the tags, and whether it is a text that XML cannot hold, in base 64.
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
