/// A stored fetch request as a model document describes it: names and text only.
package struct FetchRequestTemplate: Sendable, Hashable {
  /// The name of the template.
  ///
  /// Fetched properties leave it as the document has it.
  package var name: String
  /// The name of the entity whose objects are fetched.
  package var entityName: String
  /// The predicate as a format text, not parsed, or nil for all objects.
  package var predicateFormat: String?

  /// Makes a template.
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
}
