package import OpenCoreData
import WorkbenchText

/// Every row of an entity, read through the framework.
///
/// The store is opened read-only: no file in its folder changes.
package struct StoreRows {
  /// Whether the store carries no model that can be read, so that names of properties are guesses.
  package let isGuessed: Bool
  private let context: NSManagedObjectContext
  private let damagedRows = SkippedRows()
  private let entity: NSEntityDescription
  private let predicate: NSPredicate?

  /// Opens a store with nothing but its file.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - name: The entity; rows of its subentities belong to it.
  ///   - format: Which rows, as `NSPredicate` takes it; nil is all.
  /// - Throws: `InvalidInputError` for the file; `CommandFailure` with a caret for the name and the predicate;
  ///   the framework's `NSError`.
  package init(_ url: URL, entity name: String, where format: String?) throws {
    try InvalidInputError.check(url)
    let source = try StoreModel.ofStore(at: url)
    isGuessed = source.isGuessed
    let names = ModelNames(source.model)
    entity = try StoreRows.reading(name) { (place) throws(LanguageProblem) in
      try names.entity(name, at: place)
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
      type: .sqlite, at: url,
      options: [
        NSReadOnlyPersistentStoreOption: true,
        SkippedRows.option: damagedRows,
        // A model read off the tables is none of those that the store was made with.
        NSIgnorePersistentStoreVersioningOption: isGuessed,
      ])
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  /// Draws a caret under the argument that something is wrong with.
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

  /// Reads all rows that can be read, in the order of the file, and hands them on one by one.
  ///
  /// Cost: one SELECT for the keys, one a page of 500 rows, and one or two a to-many relationship
  /// and page. No more than five pages are in memory.
  package func forEach(_ body: (StoreRow) throws -> Void) throws {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.predicate = predicate
      request.fetchBatchSize = StoreRows.pageSize
      request.relationshipKeyPathsForPrefetching = entity.relationshipsByName.values
        .filter { $0.isToMany && !$0.isTransient }.map(\.name).sorted()
      for object in try context.fetchBatched(request) {
        try body(StoreRow(object))
      }
    }
  }

  /// Fails when something could not be read: rows were left out, or values handed on as nil or empty.
  ///
  /// - Throws: `InvalidInputError` with the rows, and the last error of the framework's.
  package func check() throws {
    let faultError = context.performAndWait { context.faultError }
    let errors = damagedRows.take() + [faultError].compactMap(\.self)
    guard !errors.isEmpty else { return }
    throw InvalidInputError(
      kind: .unusable, message: "not all could be read: \(DamagedRowsText.list(errors))",
      nextStep: "`cdprof doctor` describes what is wrong with the store")
  }
}

/// One row, with its values in a form that can be printed.
package struct StoreRow: Sendable {
  /// The object's URI.
  package let id: String
  /// The entity of the very row, which may be a subentity of the one that was asked for.
  package let entity: String
  /// The stored properties by name, inherited ones included, in alphabetical order.
  package let values: [(name: String, value: RowText)]

  /// Reads an object, firing it and its to-many relationships.
  ///
  /// On the context's queue.
  init(_ object: NSManagedObject) {
    id = object.objectID.uriRepresentation().absoluteString
    entity = object.entity.name ?? ""
    values = object.entity.propertiesByName.values
      .filter {
        !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
      }
      .sorted { $0.name < $1.name }
      .map { property in
        let value = object.storedValue(forKey: property.name)
        if let relationship = property as? NSRelationshipDescription {
          return (property.name, RowText(value, of: relationship))
        }
        return (property.name, RowText(value))
      }
  }
}
