import ManagedModel

extension NSManagedObject: URIRepresentable {
  /// The URI of the object's ID.
  package final var uri: String { objectID.uri }
}

extension NSManagedObject {
  /// The class, address, entity, object ID, and values, in the format of Core Data's `description`.
  ///
  /// Prints related objects as IDs, because objects can refer to each other. Fires and registers
  /// nothing.
  final var descriptionOfValues: String {
    let values = isFault ? "<fault>" : "{\n\(valueLines.joined(separator: "\n"))\n}"
    return "<\(type(of: self)): \(address(of: self))> (entity: \(layout.entityName); "
      + "id: \(text(of: objectID)); data: \(values))"
  }

  /// A line for each property, in the order of their names.
  private var valueLines: [String] {
    layout.entity.propertiesByName.keys.sorted().compactMap { name in
      layout.position(of: name).map {
        "    \(quotedUnlessWord(name)) = \(text(of: $0, name));"
      }
    }
  }

  private func text(of position: PropertyPosition, _ name: String) -> String {
    switch position {
    case .slot(let index): return text(of: layout.slots[index])
    case .toMany(let number):
      guard case .toMany(let value)? = values?[layout.valueIndex(position)],
        let objects = value.list ?? value.objects.map({ Array($0) })
      else {
        return isInserted
          ? list([]) : "\"<relationship fault: \(address(of: layout.toMany[number])) '\(name)'>\""
      }
      let ids = objects.map { text(of: $0.objectID) }
      return list(value.list == nil ? ids.sorted() : ids)
    case .transient(let index): return text(of: transient(index))
    case .composite(let index): return text(of: composite(index))
    }
  }

  private func text(of slot: RowSlot) -> String {
    let stored = values?[slot.index] ?? .none
    if case .null = stored { return "nil" }
    if case .none = stored {
      guard slot.kind.isToOne else { return text(of: row.value(slot)) }
      guard let context, !row.isNull(slot),
        let id = context.destinationID(
          primaryKey: row.int64(slot), of: slot.relationship,
          entityNumber: slot.kind == .toOnePolymorphic ? row.entityNumber(slot) : 0, owner: layout)
      else { return "nil" }
      return "\"\(text(of: id))\""
    }
    return text(of: cachedValue(.slot(slot.index)))
  }

  private func text(of value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let object as NSManagedObject: "\"\(text(of: object.objectID))\""
    case let isTrue as Bool: isTrue ? "1" : "0"
    case let data as Data: "\"\(Self.summary(of: data))\""
    case let leaves as [String: Any]:
      "{"
        + leaves.sorted { $0.key < $1.key }.map { "\($0.key) = \(text(of: $0.value));" }
        .joined(separator: " ") + "}"
    case let value?: quotedUnlessWord("\(value)")
    }
  }

  private func text(of id: NSManagedObjectID) -> String {
    "\(address(of: id)) \(id.description)"
  }

  private func list(_ lines: [String]) -> String {
    guard !lines.isEmpty else { return "(\n    )" }
    return "(\n" + lines.map { "        \"\($0)\"" }.joined(separator: ",\n") + "\n    )"
  }

  private func address(of object: AnyObject) -> String {
    "\(Unmanaged.passUnretained(object).toOpaque())"
  }

  /// Returns the length and the first bytes of data.
  private static func summary(of data: Data) -> String {
    let bytes = data.prefix(16).map { String(format: "%02x", $0) }.joined()
    return "{length = \(data.count), bytes = 0x\(bytes)\(data.count > 16 ? " ..." : "")}"
  }

  /// Returns a string in quotation marks, unless it consists of ASCII letters and digits.
  private func quotedUnlessWord(_ text: String) -> String {
    let isWord = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    if isWord, !text.isEmpty { return text }
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped.replacing("\n", with: "\\n"))\""
  }
}
