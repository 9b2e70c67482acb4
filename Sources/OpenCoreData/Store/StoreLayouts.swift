import ManagedModel

/// Connects the entity numbers of a file with the layouts of the model's entities.
final class StoreLayouts: Sendable {
  let rootCount: Int
  private let byNumber: [Int: EntityLayout]
  private let entities: [SQLEntity]

  init(_ mapping: SQLModel) {
    var byNumber: [Int: EntityLayout] = [:]
    var byIndex: [(Int, SQLEntity)] = []
    for entity in mapping.entities {
      let layout = EntityLayout.of(entity.description)
      byNumber[entity.number] = layout
      byIndex.append((layout.index, entity))
    }
    self.byNumber = byNumber
    self.entities = byIndex.sorted { $0.0 < $1.0 }.map(\.1)
    self.rootCount = (byNumber.values.map(\.rootIndex).max() ?? -1) + 1
  }

  /// The layout of an entity number; nil for one the model does not have.
  func layout(entityNumber: Int) -> EntityLayout? {
    byNumber[entityNumber]
  }

  /// The table mapping of a layout's entity.
  func entity(_ layout: EntityLayout) -> SQLEntity {
    entities[layout.index]
  }
}
