import ManagedModel

// Converts between a document and the tables of an in-memory store.

extension StoreDocument {
  /// Creates a document with the contents of a store's tables.
  init(
    uuid: String, metadata: [String: Any], lastKey: Int64, tables: MemoryTables
  ) {
    self.init(uuid: uuid, metadata: metadata, lastKey: lastKey)
    objects = tables.rows.flatMap(\.values).sorted { $0.primaryKey < $1.primaryKey }
      .map { Object($0, in: tables) }
  }

  /// Returns the tables for a store of a model.
  ///
  /// - Parameter layouts: The layouts of the store.
  /// - Throws: `Problem` for an object, a property, or a value that the model doesn't allow, and
  ///   for a duplicate or invalid key.
  func tables(_ layouts: StoreLayouts) throws(Problem) -> MemoryTables {
    let entities = layouts.byName
    // Core Data's documents have entity names in uppercase.
    let uppercase = Dictionary(
      entities.map { ($0.key.uppercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    var owners: [Int64: EntityLayout] = [:]
    for object in objects {
      guard let layout = entities[object.entity] ?? uppercase[object.entity] else {
        throw Problem(
          "The document contains an object of the entity '\(object.entity)', which isn't in the model."
        )
      }
      guard object.key > 0, owners.updateValue(layout, forKey: object.key) == nil else {
        throw Problem("The key \(object.key) is below 1, or two objects have it.")
      }
    }
    var tables = MemoryTables(rootCount: layouts.rootCount)
    for object in objects {
      guard let layout = owners[object.key] else { continue }
      try object.put(into: &tables, layout, owners, layouts)
    }
    return tables
  }
}

extension StoreDocument.Object {
  /// Creates an object from a row and its relationships.
  fileprivate init(_ stored: MemoryRow, in tables: MemoryTables) {
    let layout = stored.layout
    self.init(entity: layout.entityName, key: stored.primaryKey)
    for slot in layout.slots where !stored.row.isNull(slot) {
      let name = layout.slotNames[slot.index]
      if slot.kind.isToOne {
        relationships.append(
          StoreDocument.Relationship(
            name: name, isToMany: false,
            destination: slot.relationship.destinationEntity?.name ?? "",
            keys: [stored.row.int64(slot)]))
      } else {
        attributes.append(
          StoreDocument.Attribute(
            name: name, type: slot.kind.documentType, value: stored.row.contents(slot)))
      }
    }
    for relationship in layout.toMany {
      let key = ToManyKey(
        rootIndex: layout.rootIndex, primaryKey: key, relationship: relationship.name)
      let found = (tables.links[key]?.list ?? []).filter {
        tables.row($0.layout.rootIndex, $0.primaryKey) != nil
      }
      guard !found.isEmpty else { continue }
      relationships.append(
        StoreDocument.Relationship(
          name: relationship.name, isToMany: true,
          destination: relationship.destinationEntity?.name ?? "", keys: found.map(\.primaryKey)))
    }
  }

  /// - Parameter owners: The layout of each object of the document, by its key.
  fileprivate func put(
    into tables: inout MemoryTables, _ layout: EntityLayout, _ owners: [Int64: EntityLayout],
    _ layouts: StoreLayouts
  ) throws(StoreDocument.Problem) {
    let slots = Dictionary(
      zip(layout.slotNames, layout.slots), uniquingKeysWith: { first, _ in first })
    // Core Data's documents have attribute names in lowercase.
    let anyCase = Dictionary(
      zip(layout.slotNames.map { $0.lowercased() }, layout.slots),
      uniquingKeysWith: { first, _ in first })
    var builder = RowBuilder(layout: layout)
    for attribute in attributes {
      guard let slot = slots[attribute.name] ?? anyCase[attribute.name.lowercased()],
        !slot.kind.isToOne
      else {
        throw missing("attribute", attribute.name)
      }
      guard let value = slot.kind.stored(attribute.value) else {
        throw StoreDocument.Problem(
          "'\(attribute.name)' of the object \(key) of '\(entity)' isn't of type \(slot.kind.documentType)."
        )
      }
      builder.set(value, at: slot)
    }
    for relationship in relationships {
      let name = relationship.name.lowercased()
      // A to-one relationship's name can differ from it only in case.
      let exact = layout.toMany.first { $0.name == relationship.name }
      if exact == nil, let slot = slots[relationship.name] ?? anyCase[name], slot.kind.isToOne {
        guard let key = relationship.keys.first else { continue }
        try check(relationship, leadsTo: slot.relationship.destinationEntity, owners)
        // A dangling reference stays one.
        let entity = owners[key] ?? slot.relationship.destinationEntity.map { EntityLayout.of($0) }
        let number = entity.map { layouts.entityNumber($0) } ?? 0
        builder.set(.toOne(primaryKey: key, entityNumber: Int64(number)), at: slot)
      } else if let list = exact ?? layout.toMany.first(where: { $0.name.lowercased() == name }) {
        try check(relationship, leadsTo: list.destinationEntity, owners)
        var seen: Set<Int64> = []
        tables.replace(
          ToManyKey(rootIndex: layout.rootIndex, primaryKey: key, relationship: list.name),
          by: relationship.keys.filter { seen.insert($0).inserted }.compactMap { key in
            owners[key].map { FetchedIdentity(layout: $0, primaryKey: key) }
          })
      } else {
        throw missing("relationship", relationship.name)
      }
    }
    tables.put(MemoryRow(layout: layout, primaryKey: key, row: builder.finish(version: 1)))
  }

  /// Rejects a relationship to an object of an entity that can't be its destination.
  private func check(
    _ relationship: StoreDocument.Relationship, leadsTo entity: NSEntityDescription?,
    _ owners: [Int64: EntityLayout]
  ) throws(StoreDocument.Problem) {
    guard let entity else { return }
    for destination in relationship.keys {
      guard let found = owners[destination]?.entity, !found.isKind(of: entity) else {
        continue
      }
      throw StoreDocument.Problem(
        "'\(relationship.name)' of the object \(key) refers to the object \(destination), "
          + "whose entity is '\(found.name ?? "")', not '\(entity.name ?? "")'.")
    }
  }

  private func missing(_ kind: String, _ name: String) -> StoreDocument.Problem {
    StoreDocument.Problem(
      "The entity '\(entity)' of the model has no \(kind) '\(name)', which the object \(key) has.")
  }
}

// Values of rows in the form of documents.

extension RowSlot.Kind {
  /// The type name of a value in a document.
  var documentType: String {
    switch self {
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .bool: "bool"
    case .double: "double"
    case .float: "float"
    case .date: "date"
    case .string: "string"
    case .uri: "uri"
    case .decimal: "decimal"
    case .uuid: "uuid"
    case .data, .external: "binary"
    case .transformable: "transformable"
    case .toOne, .toOnePolymorphic: "relationship"
    }
  }

  /// Returns a document's value in the raw form of a kind; `nil` if it's of another kind.
  ///
  /// A string, which is XML's only type, is parsed as the kind.
  func stored(_ value: RowValue) -> RowValue? {
    switch (self, value) {
    case (.int16, .int64), (.int32, .int64), (.int64, .int64), (.bool, .int64),
      (.double, .double), (.float, .double), (.date, .double),
      (.string, .text), (.uri, .text), (.decimal, .text),
      (.data, .bytes), (.uuid, .bytes), (.transformable, .bytes):
      value
    case (.external, .bytes(let data)): .bytes(ExternalStorage.inRow(data))
    case (.int16, .text(let text)), (.int32, .text(let text)), (.int64, .text(let text)),
      (.bool, .text(let text)):
      Int64(text).map { .int64($0) }
    case (.double, .text(let text)), (.float, .text(let text)), (.date, .text(let text)):
      Double(text).map { .double($0) }
    case (.uuid, .text(let text)):
      UUID(uuidString: text).map { uuid in withUnsafeBytes(of: uuid.uuid) { .bytes(Data($0)) } }
        ?? bytes(text)
    case (.data, .text(let text)), (.external, .text(let text)), (.transformable, .text(let text)):
      bytes(text)
    default: nil
    }
  }

  private func bytes(_ text: String) -> RowValue? {
    Data(base64Encoded: text, options: .ignoreUnknownCharacters)
      .flatMap { stored(.bytes($0)) }
  }
}

extension Row {
  /// Returns a value in raw form, without the external-storage marker.
  func contents(_ slot: RowSlot) -> RowValue {
    guard slot.kind == .external, !isNull(slot) else { return rawValue(slot) }
    let bytes = Data(bytes(slot))
    return .bytes(ExternalStorage.contents(bytes) as? Data ?? bytes)
  }
}
