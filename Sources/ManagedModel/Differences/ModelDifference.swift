/// One thing in which a model differs from an earlier one.
package struct ModelDifference: Sendable, Hashable {
  /// What happened to the subject.
  package enum Kind: String, Sendable {
    case added
    case removed
    case renamed
    /// A property that another entity of the hierarchy declares now.
    case moved
    case changed
  }

  /// What kind of thing the subject is.
  package enum Subject: String, Sendable {
    case model
    case entity
    case attribute
    case relationship
    case fetchedProperty = "fetched property"
    case index
    case constraint = "uniqueness constraint"
    case configuration
    case fetchRequest = "fetch request"
  }

  package var kind: Kind
  package var subject: Subject
  /// The name of the entity in the later model, or in the earlier one when it was removed.
  package var entity: String?
  /// The name of the property, index, constraint, configuration or request.
  package var name: String?
  /// The name it had before, or the entity that declared it before.
  package var former: String?
  /// What changed, such as `type from Integer 16 to String`.
  package var detail: String?
  /// What it means for a store made with the earlier model.
  package var effect: MigrationEffect
  /// Why it has that effect, or what to mind, as a sentence.
  package var reason: String?

  /// The subject as people name it: `Animal`, `Animal.name`, or the name alone.
  package var path: String {
    [entity, name].compactMap { $0 }.joined(separator: ".")
  }
}
