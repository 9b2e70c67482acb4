/// How many objects of an entity a data set has, and how their properties are made.
package struct EntityPlan: Sendable {
  /// A property with the generator named for it.
  package struct Property: Sendable {
    package var name: String
    package var generator: Generator

    package init(name: String, generator: Generator) {
      self.name = name
      self.generator = generator
    }
  }

  package var entity: String
  package var count: CountExpression
  /// Properties that are not named here get a valid value by their type.
  package var properties: [Property]

  package init(entity: String, count: CountExpression, properties: [Property] = []) {
    self.entity = entity
    self.count = count
    self.properties = properties
  }
}
