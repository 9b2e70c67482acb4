/// One entity of a store.
package struct InspectedEntity: Sendable, Equatable {
  package var name: String
  /// 0 for a root.
  package var depth: Int
  /// Rows, those of sub-entities included.
  package var count: Int
  /// Rows of this very entity.
  package var ownCount: Int
  /// False also when only the tables were read, which do not tell.
  package var isAbstract: Bool
  package var superentity: String?
  /// The direct ones.
  package var subentities: [String]
  /// The table its rows are in, which is its root's; nil when the file has none.
  package var table: String?
  package var className: String?
  /// Its own, without the inherited ones, alphabetically.
  package var attributes: [InspectedAttribute]
  /// Its own, without the inherited ones, alphabetically.
  package var relationships: [InspectedRelationship]
}
