/// How many rows of an entity the data has.
package struct EntityCount: Sendable, Equatable {
  package var name: String
  package var count: Int

  package init(name: String, count: Int) {
    self.name = name
    self.count = count
  }
}
