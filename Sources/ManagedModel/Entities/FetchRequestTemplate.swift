/// A fetch request that a model has, under a name or for a fetched property.
///
/// `NSFetchRequest` is made of it where it is asked for: a model knows no store.
package struct FetchRequestTemplate: Sendable, Hashable {
  /// The name of the template.
  ///
  /// Fetched properties leave it as the document has it.
  package var name: String
  /// The name of the entity whose objects are fetched.
  package var entityName: String
  /// The predicate as a format text, not parsed, or nil for all objects.
  package var predicateFormat: String? { didSet { predicate = nil } }
  /// The predicate where it was given as one; `predicateFormat` is its text then.
  package private(set) var predicate: NSPredicate?
  /// The order of the objects; empty where the model leaves it open.
  package var sortDescriptors: [NSSortDescriptor] = []
  /// The most objects to fetch; 0 for all.
  package var fetchLimit = 0
  /// How many objects are loaded at a time; 0 for all.
  package var fetchBatchSize = 0
  /// What is fetched, as the raw value of `NSFetchRequestResultType`.
  package var resultType: UInt = 0
  /// Whether objects of subentities are fetched too.
  package var includesSubentities = true
  /// Whether rows come with the fetch.
  package var includesPropertyValues = true
  /// Whether unsaved changes count.
  package var includesPendingChanges = true
  /// Whether the objects stay faults.
  package var returnsObjectsAsFaults = true
  /// Whether equal results are given once.
  package var returnsDistinctResults = false

  /// Makes a template of a predicate's text.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - entityName: The name of the entity whose objects are fetched.
  ///   - predicateFormat: The predicate as a format text, or nil for all objects.
  package init(name: String, entityName: String, predicateFormat: String?) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
  }

  /// Makes a template of a predicate.
  ///
  /// - Parameters:
  ///   - name: The name of the template.
  ///   - entityName: The name of the entity whose objects are fetched.
  ///   - predicate: The predicate, or nil for all objects.
  package init(name: String, entityName: String, predicate: NSPredicate?) {
    self.init(name: name, entityName: entityName, predicateFormat: predicate?.predicateFormat)
    self.predicate = predicate
  }

  /// The predicate, parsed from its text unless it was given as one.
  ///
  /// - Throws: What is wrong with the text.
  package func parsedPredicate() throws(PredicateSyntaxError) -> NSPredicate? {
    if let predicate { return predicate }
    guard let predicateFormat else { return nil }
    return try NSPredicate.parse(predicateFormat, arguments: [])
  }
}
