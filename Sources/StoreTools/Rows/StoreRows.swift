package import OpenCoreData
import SQLiteDriver
package import WorkbenchText

/// The rows of an entity, read through the framework.
///
/// The store is opened read-only, without modifying any file in its folder.
package struct StoreRows {
  /// Whether the store has no readable model, so that property names are inferred.
  package let isInferred: Bool
  private let context: NSManagedObjectContext
  private let skippedRows = SkippedRows()
  private let entity: NSEntityDescription
  private let predicate: NSPredicate?
  private let limit: Int?
  private let url: URL
  private let batchBytes: Int

  /// Opens a store with its own model, or with one that's inferred from its tables.
  ///
  /// A store that was made with a configuration of its model is opened with this configuration.
  ///
  /// - Parameters:
  ///   - url: The store file.
  ///   - name: The name of the entity, whose subentities are included.
  ///   - format: A predicate format that selects rows, or `nil` for all rows.
  ///   - limit: The maximum number of rows, at least 1, or `nil` for all.
  ///   - batchBytes: The size of rows beyond which a batch ends, in bytes.
  /// - Throws: An `InvalidInputError` if the file isn't a valid store; a `CommandFailure` with a
  ///   caret if the name or the predicate is invalid, or if the store can't contain the entity; or
  ///   the framework's `NSError`.
  package init(
    _ url: URL, entity name: String, where format: String?, limit: Int? = nil,
    batchBytes: Int = 32 << 20
  ) throws {
    self.limit = limit
    self.url = url
    self.batchBytes = batchBytes
    try InvalidInputError.check(url)
    let source = try StoreModel.ofStore(at: url)
    isInferred = source.isInferred
    let names = ModelNames(source.model, configuration: source.configuration)
    entity = try StoreRows.reading(name) { (range) throws(LanguageProblem) in
      try names.entity(name, at: range)
    }
    if let format {
      let (names, entity) = (names, entity)
      predicate = try StoreRows.reading(format) { (_) throws(LanguageProblem) in
        try PredicateCheck(names: names, entity: entity).check(format, at: nil)
        return NSPredicate(format: format, argumentArray: nil)
      }
    } else {
      predicate = nil
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: source.model)
    try coordinator.addPersistentStore(
      type: .sqlite, configuration: source.configuration, at: url,
      options: [
        NSReadOnlyPersistentStoreOption: true,
        SkippedRows.option: skippedRows,
        // An inferred model isn't the one that the store was created with.
        NSIgnorePersistentStoreVersioningOption: isInferred,
      ])
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  /// Calls a closure with the range of an argument, and adds a caret to the error that it throws.
  private static func reading<Result>(
    _ text: String, _ read: (SourceRange) throws(LanguageProblem) -> Result
  ) throws -> Result {
    do {
      return try read(SourceRange(line: 1, column: 1, length: text.count))
    } catch {
      throw CommandFailure(error, in: text)
    }
  }

  private static let pageSize = 500

  /// Calls a closure with up to 500 readable rows at a time, by primary key.
  ///
  /// A batch ends earlier if its rows are large, so that long values don't add up.
  ///
  /// **Cost:** one SELECT for the keys, one for each batch of 500 rows, and one or two for each
  /// to-many relationship and batch. One batch is in memory. If the file is larger than a batch
  /// may be, also one SELECT for the sizes of 500 rows, and one for those of the destinations of
  /// each relationship and batch; large destinations aren't prefetched.
  package func forEachBatch(_ body: ([StoreRow]) throws -> Void) throws {
    let keys = try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.predicate = predicate
      // Without an order, SQLite can read the keys from an index.
      request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
      request.fetchBatchSize = StoreRows.pageSize
      request.fetchLimit = limit ?? 0
      return try context.fetchBatched(request)
    }
    let sizes = RowSizes(ofStoreAt: url, entity: entity.name ?? "", largerThan: batchBytes)
    defer { sizes?.close() }
    var properties: [NSEntityDescription: [NSPropertyDescription]] = [:]
    var start = 0
    while start < keys.count {
      let end = min(start + StoreRows.pageSize, keys.count)
      let ids = context.performAndWait { (start..<end).map { keys.objectID(at: $0) } }
      for group in sizes?.groups(of: ids, upTo: batchBytes) ?? [ids] {
        // At the end of a block, the context releases its objects.
        try context.performAndWait { try read(group, sizes, &properties, body) }
      }
      start = end
    }
  }

  /// Reads rows, and calls a closure with them.
  private func read(
    _ ids: [NSManagedObjectID], _ sizes: RowSizes?,
    _ properties: inout [NSEntityDescription: [NSPropertyDescription]],
    _ body: ([StoreRow]) throws -> Void
  ) throws {
    let paths = entity.relationshipsByName.values
      .filter { $0.isToMany && !$0.isTransient }.map(\.name).sorted()
    let objects = ids.map { context.object(with: $0) }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.predicate = NSComparisonPredicate(
      leftExpression: .expressionForEvaluatedObject(),
      rightExpression: NSExpression(forConstantValue: objects), modifier: .direct, type: .in,
      options: [])
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = paths.filter { path in
      guard let sizes else { return true }
      return (sizes.ofDestinations(path, from: ids) ?? .max) <= batchBytes
    }
    // If a row can't be read, each is read alone, and `check` reports those that can't be.
    _ = try? context.fetch(request)
    var batch: [StoreRow] = []
    var bytes = 0
    for object in objects {
      let entity = object.entity
      let known =
        properties[entity] ?? StoreRow.properties(of: entity).sortedByName()
      properties[entity] = known
      let row = StoreRow(object, known)
      batch.append(row)
      bytes += row.size
      // The object caches values of external data files, which the sizes of rows don't include.
      if row.size > 1 << 16 { context.refresh(object, mergeChanges: false) }
      if bytes >= batchBytes {
        try body(batch)
        batch.removeAll()
        bytes = 0
      }
    }
    if !batch.isEmpty { try body(batch) }
  }

  /// The names of the persistent properties of the entity and its subentities, in alphabetical
  /// order.
  package var properties: [String] {
    var names: Set<String> = []
    var entities = [entity]
    while let entity = entities.popLast() {
      names.formUnion(StoreRow.properties(of: entity).map(\.name))
      entities += entity.subentities
    }
    return names.sorted()
  }

  /// Checks whether all rows and values could be read.
  ///
  /// Unreadable rows are omitted, and unreadable values are `nil` or empty.
  ///
  /// - Throws: An `InvalidInputError` that lists the rows that were skipped and the last fault
  ///   error of the framework.
  package func check() throws {
    let faultError = context.performAndWait { context.faultError }
    let errors = skippedRows.take() + [faultError].compactMap(\.self)
    guard !errors.isEmpty else { return }
    let isUnread = faultError.map { error in
      error.domain == NSSQLiteErrorDomain
        && ResultCode(rawValue: Int32(truncatingIfNeeded: error.code)).primary == .inputOutput
    }
    throw InvalidInputError(
      kind: isUnread == true ? .missing : .unusable,
      message: "some data couldn't be read: \(SkippedRowsText.list(errors))",
      nextStep: "run `cdprof doctor` to check the store")
  }
}

/// A row with its values in a form that can be printed.
package struct StoreRow: Sendable {
  /// The object's URI.
  package let id: String
  /// The name of the row's own entity, which can be a subentity of the requested one.
  package let entity: String
  /// The persistent properties, including inherited ones, in alphabetical order.
  package let values: [(name: String, value: RowText)]

  /// The approximate size of the values in memory, in bytes.
  fileprivate var size: Int { values.reduce(0) { $0 + $1.value.size } }

  /// Reads an object, which fires its fault and those of its to-many relationships.
  ///
  /// Call it on the context's queue.
  init(_ object: NSManagedObject, _ properties: [NSPropertyDescription]) {
    id = object.objectID.uri
    entity = object.entity.name ?? ""
    values = properties.map { property in
      let value = object.storedValue(forKey: property.name)
      if let relationship = property as? NSRelationshipDescription {
        return (property.name, RowText(value, of: relationship))
      }
      return (property.name, RowText(value))
    }
  }

  /// Returns the persistent attributes and relationships of an entity, including inherited ones.
  fileprivate static func properties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
    entity.propertiesByName.values.filter {
      !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
    }
  }
}

/// The text format of a row.
package enum RowsText {
  /// Returns a line with the row's URI, and one for each value.
  ///
  /// Long strings are truncated; of binary data, only the size is included.
  package static func lines(_ row: StoreRow) -> [String] {
    let width = row.values.map { TextWidth.of($0.name) }.max() ?? 0
    return [row.id] + row.values.map { "  \(NumberText.left($0.name, width))   \($0.value.line)" }
  }
}

/// The JSON format of rows: an array with one object for each row, which is written row by row.
///
/// Dates are ISO 8601 with milliseconds, in UTC. Binary data is Base64. A to-one relationship is a
/// URI, and a to-many relationship an array of URIs.
package struct RowsJSON {
  private var isFirst = true

  /// Creates a writer that hasn't written any rows.
  package init() {}

  /// Calls a closure with the JSON of rows, after separators, in parts of about 64 KB.
  ///
  /// **Cost:** a long value isn't copied as a whole.
  package mutating func write(_ rows: [StoreRow], to body: @escaping (Data) -> Void) {
    var output = PartedText(body)
    for row in rows {
      output.add(isFirst ? "[\n  " : ",\n  ")
      isFirst = false
      output.add("{\"entity\": \(quoted(row.entity)), \"id\": \(quoted(row.id)), \"values\": {")
      for (index, property) in row.values.enumerated() {
        output.add("\(index == 0 ? "" : ", ")\(quoted(property.name)): ")
        property.value.forEachPartOfJSON { output.add($0) }
      }
      output.add("}}")
    }
    output.end()
  }

  /// Returns the JSON after the last row.
  package func end() -> Data {
    Data((isFirst ? "[]\n" : "\n]\n").utf8)
  }

  private func quoted(_ text: String) -> String { JSONText.quoted(text) }
}

/// The CSV format of rows: a header line, and a line for each row.
///
/// Values are those of `RowsJSON`, except that binary data is hexadecimal, a to-many relationship's
/// URIs are separated by spaces, and a missing value is empty.
package struct RowsCSV {
  private let properties: [String]

  /// Creates a writer for rows.
  ///
  /// - Parameter properties: The names of the columns after those of the entity and the URI.
  package init(_ properties: [String]) {
    self.properties = properties
  }

  /// The header line.
  ///
  /// The first columns are `entity` and `id` or, if a property has that name, regardless of case,
  /// `objectEntity` and `objectID`.
  package var header: [String] {
    let names = Set(properties.map { $0.lowercased() })
    let own = [("entity", "objectEntity"), ("id", "objectID")].map { name, other in
      names.contains(name) ? other : name
    }
    return CSVText.lines(own + properties)
  }

  /// Calls a closure with the lines of rows in parts of about 64 KB; a row has several lines if a
  /// value contains line feeds.
  ///
  /// **Cost:** a long value isn't copied as a whole.
  package func write(_ rows: [StoreRow], to body: @escaping (Data) -> Void) {
    var output = PartedText(body)
    for row in rows {
      RowText.text(row.entity).forEachPartOfCSV { output.add($0) }
      output.add(",")
      RowText.text(row.id).forEachPartOfCSV { output.add($0) }
      // Both are in alphabetical order; a row of a subentity lacks the properties of others.
      var values = row.values[...]
      for property in properties {
        output.add(",")
        guard values.first?.name == property else { continue }
        values.removeFirst().value.forEachPartOfCSV { output.add($0) }
      }
      output.add("\n")
    }
    output.end()
  }
}

/// The text format of errors for rows that couldn't be read.
package enum SkippedRowsText {
  private static let most = 20

  /// Returns the first errors, one on each line, and the number of further errors.
  package static func list(_ errors: [NSError]) -> String {
    let shown = errors.prefix(most).map { ErrorText.of($0) }.joined(separator: "\n  ")
    return errors.count <= most ? shown : "\(shown)\n  … and \(errors.count - most) more"
  }
}
