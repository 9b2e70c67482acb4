import Foundation
package import OpenCoreData
package import SQLiteDriver
import ScenarioLanguage
package import WorkbenchText

/// An object of a result with values of its properties, for printing.
package struct InspectedObject: Sendable {
  /// A value at the end of a key path.
  package struct Value: Sendable {
    package let text: RowText
    /// Whether reading the property would fire a fault: the object's, the to-many relationship's,
    /// or that of a to-one relationship's destination.
    package let isFault: Bool
    /// Whether the object has an unsaved change of the property.
    package let isChanged: Bool
  }

  /// The object's URI.
  package let uri: String
  package let isFault: Bool
  /// Whether the object was inserted, changed, or deleted since the last save.
  package let hasChanges: Bool
  /// The values of the key paths, in their order.
  package let values: [Value]
}

extension Session {
  /// Returns the number of objects or dictionaries of a result, or `nil` if there's no result with
  /// the name.
  package func count(ofResult name: String) -> Int? { namedResults[name]?.count }

  /// Returns the dictionaries of a result; none if it has objects.
  package func dictionaries(ofResult name: String) -> [[String: RowText]] {
    guard case .dictionaries(let dictionaries)? = namedResults[name]?.content else { return [] }
    return dictionaries.map { $0.mapValues { RowText($0) } }
  }

  /// Returns the keys of a result's dictionaries in the order of the fetch's columns; the others
  /// follow in alphabetical order.
  package func dictionaryKeys(ofResult name: String) -> [String] {
    guard let result = namedResults[name], case .dictionaries(let dictionaries) = result.content
    else {
      return []
    }
    let present = Set(dictionaries.flatMap(\.keys))
    let written = (result.fetch?.columns(of: .columns) ?? []).map(\.name)
    return written + present.subtracting(written).sorted()
  }

  /// Returns objects of a result with their current values, without firing faults, loading batches,
  /// or registering objects.
  ///
  /// The values of a realized object are those that the context's program would read, with unsaved
  /// changes. Those of a fault are the parent context's, or else those that were last saved, which
  /// a separate stack reads. **Cost:** no statement, row, or fault is counted; the separate stack
  /// runs a SELECT for each fault, destination, and to-many relationship.
  ///
  /// - Parameters:
  ///   - name: The name of a result with objects or object IDs.
  ///   - range: The positions of the objects, which must be in the result.
  ///   - keyPaths: Key paths of the result's entity; a to-many relationship, or `@count` after it,
  ///     can only be at the end.
  ///   - raw: Whether to return the values as SQLite stores them, without unsaved changes.
  /// - Throws: An `NSError` if the store can't be opened again, or if the step was interrupted.
  package func inspect(
    _ name: String, at range: Range<Int>, keyPaths: [String], raw: Bool
  ) throws -> [InspectedObject] {
    guard let result = namedResults[name] else { return [] }
    var chain: [NSManagedObjectContext] = []
    var next: String? = result.context
    while let name = next {
      chain.append(stack.context(name))
      next = stack.shapes[name]?.parent
    }
    let saved = try ColdStack(
      storeURL: storeURL, engine: engine, model: model, configuration: configuration,
      isReadOnly: isReadOnly, ignoresVersions: ignoresVersions, skippedRows: SkippedRows(),
      sinks: [])
    let reader = ObjectReader(chain: chain, saved: saved.main)
    let columns = raw ? try StoredColumns(of: self) : nil
    defer { columns?.close() }
    let paths = keyPaths.map { $0.split(separator: ".").map(String.init) }
    return try ids(of: result, at: range).map { id in
      try interruption.check()
      let state = reader.state(of: id)
      let values = try paths.map { path in
        try reader.value(at: path[...], of: id, storedIn: columns)
      }
      return InspectedObject(
        uri: id.uriRepresentation().absoluteString, isFault: state.isFault,
        hasChanges: state.hasChanges, values: values)
    }
  }

  private func ids(of result: NamedResult, at range: Range<Int>) -> [NSManagedObjectID] {
    switch result.content {
    case .save, .dictionaries: []
    case .ids(let ids), .rows(_, let ids): Array(ids[range])
    case .batched(let objects): range.map(objects.objectID(at:))
    case .controller(let list):
      stack.context(result.context).performAndWait { range.map(list.objectID) }
    case .objects(let objects):
      stack.context(result.context).performAndWait { objects[range].map(\.objectID) }
    }
  }
}

/// Reads properties of objects where they are already in memory, or else from the store.
private struct ObjectReader {
  /// The result's context, its parent, and so on.
  let chain: [NSManagedObjectContext]
  /// A context of a separate stack on the same store.
  let saved: NSManagedObjectContext

  /// A property of an object, and the object that it refers to.
  private struct Reading: Sendable {
    var value = RowText.null
    var next: NSManagedObjectID?
    var isFault = false
    var isChanged = false
  }

  /// Returns whether an object is a fault in the result's context, or isn't registered there, and
  /// whether it has unsaved changes.
  func state(of id: NSManagedObjectID) -> (isFault: Bool, hasChanges: Bool) {
    guard let context = chain.first else { return (true, false) }
    return context.performAndWait {
      let object = context.registeredObject(for: id)
      return (object?.isFault ?? true, object?.hasChanges ?? false)
    }
  }

  /// Returns the value at the end of a key path.
  ///
  /// - Throws: An `SQLiteError` for a stored value.
  func value(
    at path: ArraySlice<String>, of id: NSManagedObjectID, storedIn columns: StoredColumns?
  ) throws -> InspectedObject.Value {
    guard let key = path.first else {
      return InspectedObject.Value(text: .null, isFault: false, isChanged: false)
    }
    let rest = path.dropFirst()
    var reading = read(key, of: id)
    if let following = rest.first, following != "@count", let next = reading.next {
      let last = try value(at: rest, of: next, storedIn: columns)
      return InspectedObject.Value(
        text: last.text, isFault: reading.isFault || last.isFault, isChanged: last.isChanged)
    }
    if rest.first == "@count", case .objects(let objects) = reading.value {
      reading.value = .integer(Int64(objects.count))
    } else if rest.isEmpty, let stored = try columns?.value(of: key, in: id) {
      reading.value = stored
    } else {
      // The elements of a composite attribute.
      for element in rest {
        guard case .group(let elements) = reading.value else {
          reading.value = .null
          break
        }
        reading.value = elements[element] ?? .null
      }
    }
    return InspectedObject.Value(
      text: reading.value, isFault: reading.isFault, isChanged: reading.isChanged)
  }

  private func read(_ key: String, of id: NSManagedObjectID) -> Reading {
    for (index, context) in chain.enumerated() {
      let reading = context.performAndWait { () -> Reading? in
        guard let object = context.registeredObject(for: id), !object.isFault else { return nil }
        return ObjectReader.read(key, of: object, in: context, firing: false)
      }
      guard var reading else { continue }
      if index > 0 {
        reading.isFault = true
        reading.isChanged = false
      }
      return reading
    }
    var reading = savedReading(of: key, in: id)
    reading.isFault = true
    return reading
  }

  /// Returns the saved value of a property, with the ID of the destination in the result's context.
  private func savedReading(of key: String, in id: NSManagedObjectID) -> Reading {
    let uri = id.uriRepresentation()
    var reading = saved.performAndWait { () -> Reading in
      guard
        let id = saved.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri),
        let object = try? saved.existingObject(with: id)
      else { return Reading() }
      return ObjectReader.read(key, of: object, in: saved, firing: true) ?? Reading()
    }
    let coordinator = chain.last?.persistentStoreCoordinator
    reading.next = reading.next.flatMap {
      coordinator?.managedObjectID(forURIRepresentation: $0.uriRepresentation())
    }
    return reading
  }

  /// Returns a property of a realized object, or `nil` for a to-many relationship that isn't to be
  /// fired.
  private static func read(
    _ key: String, of object: NSManagedObject, in context: NSManagedObjectContext, firing: Bool
  ) -> Reading? {
    let property = object.entity.propertiesByName[key]
    guard property is NSAttributeDescription || property is NSRelationshipDescription else {
      return Reading()
    }
    var reading = Reading()
    reading.isChanged = object.hasChanges && object.changedValues()[key] != nil
    guard let relationship = property as? NSRelationshipDescription else {
      reading.value = RowText(object.storedValue(forKey: key))
      return reading
    }
    guard !relationship.isTransient else { return reading }
    if relationship.isToMany {
      guard firing || !object.hasFault(forRelationshipNamed: key) else { return nil }
      reading.value = RowText(object.storedValue(forKey: key), of: relationship)
    } else if let id = object.destinationID(forRelationshipNamed: key) {
      reading.value = .object(id.uriRepresentation().absoluteString)
      reading.next = id
      reading.isFault = context.registeredObject(for: id)?.isFault ?? true
    }
    return reading
  }
}

extension Session {
  /// Returns the model mapped to the tables of the store's file, with its entity IDs; a table or
  /// column that the file lacks gets Core Data's default name.
  ///
  /// **Cost:** two SELECTs, which the run's counts don't include.
  /// - Parameter connection: A separate connection to the file.
  /// - Throws: A `SQLiteError` if the schema can't be read.
  package func mapping(on connection: Connection) throws -> SQLModel {
    try SQLModel(
      model: model, configuration: configuration, connection: connection, ignoresMissing: true)
  }
}

/// The columns of a store, for reading values as SQLite stores them.
private struct StoredColumns {
  private let connection: Connection
  private let mapping: SQLModel

  /// Opens a connection, which the caller closes.
  init(of session: Session) throws {
    connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .inspecting : .reading)
    do {
      mapping = try session.mapping(on: connection)
    } catch {
      connection.close()
      throw error
    }
  }

  func close() {
    connection.close()
  }

  /// Returns the value of a property's column; `nil` if the property has no column, and NULL for a
  /// row that doesn't exist.
  func value(of key: String, in id: NSManagedObjectID) throws(SQLiteError) -> RowText? {
    guard let entity = mapping.entity(named: id.entity.name ?? ""),
      let column = entity.columns.first(where: { $0.property.name == key }),
      !id.isTemporaryID
    else { return id.isTemporaryID ? .null : nil }
    guard let primaryKey = Int64(id.uriRepresentation().lastPathComponent.dropFirst()) else {
      return .null
    }
    let rows = try connection.values(
      "SELECT \(SQLSyntax.quoted(column.name)) FROM \(SQLSyntax.quoted(entity.table)) "
        + "WHERE Z_PK = ?", [.integer(primaryKey)])
    switch rows.first?.first {
    case .integer(let value): return .integer(value)
    case .real(let value): return .real(value)
    case .text(let value): return .text(value)
    case .blob(let bytes): return .bytes(Data(bytes))
    case .null, nil: return .null
    }
  }
}
