import ManagedModel

/// Connects the entity numbers of a store with the layouts of the model's entities.
final class StoreLayouts: Sendable {
  let rootCount: Int
  private let byNumber: [Int: EntityLayout]
  /// By layout index.
  private let numbers: [Int]

  init(_ entities: some Sequence<(number: Int, description: NSEntityDescription)>) {
    var byNumber: [Int: EntityLayout] = [:]
    for entity in entities { byNumber[entity.number] = EntityLayout.of(entity.description) }
    self.byNumber = byNumber
    numbers = byNumber.sorted { $0.value.index < $1.value.index }.map(\.key)
    rootCount = (byNumber.values.map(\.rootIndex).max() ?? -1) + 1
  }

  /// The layout of an entity number; nil for one the model does not have.
  func layout(entityNumber: Int) -> EntityLayout? {
    byNumber[entityNumber]
  }

  /// The number that rows of that layout carry (`Z_ENT`).
  func entityNumber(_ layout: EntityLayout) -> Int {
    numbers[layout.index]
  }
}
