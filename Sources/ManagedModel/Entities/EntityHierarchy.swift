/// Collects the superentities of entities in order to connect a complete hierarchy at once.
struct EntityHierarchy {
  private var parents: [ObjectIdentifier: NSEntityDescription] = [:]
  private var entities: [NSEntityDescription] = []

  /// Records the superentity of an entity.
  ///
  /// Only the first one is used.
  mutating func put(_ entity: NSEntityDescription, below parent: NSEntityDescription) {
    parents[ObjectIdentifier(entity)] = parent
    entities.append(entity)
  }

  /// Sets the subentities of every superentity.
  ///
  /// Returns the entities whose superentities form a cycle or are too many; they get no
  /// superentity.
  func link() -> [NSEntityDescription] {
    var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
    var order: [NSEntityDescription] = []
    var refused: [NSEntityDescription] = []
    for entity in entities {
      guard hasRoot(entity), let parent = parents[ObjectIdentifier(entity)] else {
        refused.append(entity)
        continue
      }
      let key = ObjectIdentifier(parent)
      if children[key] == nil { order.append(parent) }
      children[key, default: []].append(entity)
    }
    for parent in order { parent.subentities = children[ObjectIdentifier(parent)] ?? [] }
    return refused
  }

  private func hasRoot(_ entity: NSEntityDescription) -> Bool {
    var ancestor = entity
    for _ in 0..<ModelLimits.ancestors {
      guard let parent = parents[ObjectIdentifier(ancestor)] else { return true }
      ancestor = parent
    }
    return false
  }
}
