/// A named fetch request of a model, or the fetch request of a fetched property.
///
/// OpenCoreData creates an `NSFetchRequest` from it; this module doesn't depend on stores.
package struct FetchRequestTemplate: Sendable, Hashable {
  /// The name of the template.
  ///
  /// For a fetched property, it's the name in the document.
  package var name: String
  /// The name of the entity whose objects are fetched.
  package var entityName: String
  /// The predicate's format string, which isn't parsed, or `nil` for all objects.
  package var predicateFormat: String? {
    didSet {
      predicate = nil
      original = nil
    }
  }
  /// The predicate, if the template was created with one; `predicateFormat` is then its format
  /// string.
  package private(set) var predicate: NSPredicate?
  /// The sort descriptors; empty if the model doesn't specify an order.
  package var sortDescriptors: [NSSortDescriptor] = []
  /// The maximum number of objects to fetch; 0 for all.
  package var fetchLimit = 0
  /// The number of objects that are loaded at a time; 0 for all.
  package var fetchBatchSize = 0
  /// The type of the results, as the raw value of `NSFetchRequestResultType`.
  package var resultType: UInt = 0
  /// Whether objects of subentities are also fetched.
  package var includesSubentities = true
  /// Whether the fetch includes the objects' rows.
  package var includesPropertyValues = true
  /// Whether the fetch includes unsaved changes.
  package var includesPendingChanges = true
  /// Whether the fetched objects are faults.
  package var returnsObjectsAsFaults = true
  /// Whether the result omits duplicates.
  package var returnsDistinctResults = false
  /// The request that the template was created from, which has properties that a document can't
  /// express.
  package var original: OriginalRequest?

  /// Creates a template with a predicate's format string.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - entityName: The name of the entity whose objects are fetched.
  ///   - predicateFormat: The predicate's format string, or `nil` for all objects.
  package init(name: String, entityName: String, predicateFormat: String?) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
  }

  /// Creates a template with a predicate.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - entityName: The name of the entity whose objects are fetched.
  ///   - predicate: The predicate, or `nil` for all objects.
  package init(name: String, entityName: String, predicate: NSPredicate?) {
    self.init(name: name, entityName: entityName, predicateFormat: predicate?.predicateFormat)
    self.predicate = predicate
  }

  /// Returns the predicate, parsed from its format string if necessary.
  ///
  /// - Throws: The syntax error of the format string.
  package func parsedPredicate() throws(PredicateSyntaxError) -> NSPredicate? {
    if let predicate { return predicate }
    return try readPredicate()
  }

  /// Returns the predicate that a reader of a document gets.
  ///
  /// - Throws: The syntax error of the format string, such as that of a block.
  func readPredicate() throws(PredicateSyntaxError) -> NSPredicate? {
    guard let predicateFormat else { return nil }
    return try NSPredicate.parse(predicateFormat, arguments: [])
  }
}

/// A fetch request of OpenCoreData that isn't modified, next to its form in the model.
///
/// All are equal, so that two templates are compared as documents are.
package struct OriginalRequest: @unchecked Sendable, Hashable {  // isn't modified
  /// The request; `nil` for a template that was read from an archive.
  package let request: AnyObject?
  /// The names of the request's properties with values that a document can't express.
  package let unwrittenProperties: [String]
  /// The values of those that an archive can contain, by name, as property list values.
  package let archived: [String: Any]

  /// The names of the properties that an archive can contain.
  static let archivedNames = [
    "fetchOffset", "havingPredicate", "propertiesToFetch", "propertiesToGroupBy",
    "relationshipKeyPathsForPrefetching", "shouldRefreshRefetchedObjects",
  ]

  /// Creates the reference to a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - unwrittenProperties: The names of its properties that a document can't express and that
  ///     don't have their default values.
  ///   - archived: The values of those that an archive can contain.
  package init(_ request: AnyObject, unwrittenProperties: [String], archived: [String: Any]) {
    self.request = request
    self.unwrittenProperties = unwrittenProperties
    self.archived = archived
  }

  /// Creates the properties that an archive contains.
  init(archived: [String: Any]) {
    request = nil
    unwrittenProperties = archived.keys.sorted()
    self.archived = archived
  }

  /// The texts of the archived predicate and expressions, which are parsed when they're used.
  var formats: [String] {
    let computed = ["propertiesToFetch", "propertiesToGroupBy"].flatMap { name in
      (archived[name] as? [[Any]] ?? []).compactMap { $0.dropFirst().first as? String }
    }
    return computed + [archived["havingPredicate"] as? String].compactMap { $0 }
  }

  package static func == (one: Self, other: Self) -> Bool { true }

  package func hash(into hasher: inout Hasher) {}
}
