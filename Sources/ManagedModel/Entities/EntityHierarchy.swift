/// Collects which entity is below which, so that a whole hierarchy is linked at once.
struct EntityHierarchy {
  private var parents: [ObjectIdentifier: NSEntityDescription] = [:]
  private var entities: [NSEntityDescription] = []

  /// Notes that an entity is below another; an entity is noted once.
  mutating func put(_ entity: NSEntityDescription, below parent: NSEntityDescription) {
    parents[ObjectIdentifier(entity)] = parent
    entities.append(entity)
  }

  /// Sets the children of every parent.
  ///
  /// Returns the entities whose parents form a circle or are too many; those get no parent.
  func link() -> [NSEntityDescription] {
    var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
    var order: [NSEntityDescription] = []
    var refused: [NSEntityDescription] = []
    for entity in entities {
      guard isSound(entity), let parent = parents[ObjectIdentifier(entity)] else {
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

  private func isSound(_ entity: NSEntityDescription) -> Bool {
    var ancestor = entity
    for _ in 0..<ModelLimits.depth {
      guard let parent = parents[ObjectIdentifier(ancestor)] else { return true }
      ancestor = parent
    }
    return false
  }
}
