import ManagedModel

/// Connects the entity numbers of a store with the layouts of its entities.
final class StoreLayouts: Sendable {
  /// Root indexes of the store's rows are below this.
  let rootCount: Int
  /// Which of its coordinator's stores it is, from 0.
  let place: Int
  private let byNumber: [Int: EntityLayout]
  /// By the index of the entity in the model; 0 for entities that the store does not hold.
  private let numbers: [Int]

  init(_ entities: some Sequence<(number: Int, description: NSEntityDescription)>, place: Int) {
    self.place = place
    var byNumber: [Int: EntityLayout] = [:]
    for entity in entities {
      byNumber[entity.number] = EntityLayout.of(entity.description).at(place)
    }
    self.byNumber = byNumber
    let last = byNumber.values.map(\.modelIndex).max() ?? -1
    var numbers = [Int](repeating: 0, count: last + 1)
    for (number, layout) in byNumber { numbers[layout.modelIndex] = number }
    self.numbers = numbers
    rootCount = (byNumber.values.map(\.rootIndex).max() ?? -1) + 1
  }

  /// The layout of an entity number; nil for one the store does not hold.
  func layout(entityNumber: Int) -> EntityLayout? {
    byNumber[entityNumber]
  }

  /// The layouts by the names of their entities.
  var byName: [String: EntityLayout] {
    Dictionary(
      byNumber.values.map { ($0.entity.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The number that rows of that layout carry (`Z_ENT`); 0 for an entity the store does not hold.
  func entityNumber(_ layout: EntityLayout) -> Int {
    layout.modelIndex < numbers.count ? numbers[layout.modelIndex] : 0
  }

  /// Whether the store has room for objects of an entity.
  func holds(_ layout: EntityLayout) -> Bool {
    entityNumber(layout) != 0
  }
}
