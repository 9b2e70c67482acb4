import ManagedModel

extension NSManagedObject {
  /// Sets the property at the end of a path, as in `country.name`, or an element of a composite
  /// attribute, as in `address.city`.
  ///
  /// Does nothing where a relationship on the way leads nowhere. Traps as `setValue(_:forKey:)` does,
  /// and for a to-many on the way. Cost: that of each property on the way.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    if layout.place(of: keyPath) != nil { return setValue(value, forKey: keyPath) }
    guard let point = keyPath.firstIndex(of: ".") else {
      return setValue(value, forKey: keyPath)
    }
    let (key, rest) = (keyPath[..<point], keyPath[keyPath.index(after: point)...])
    switch self.value(forKey: String(key)) {
    case let object as NSManagedObject: object.setValue(value, forKeyPath: String(rest))
    case nil: break
    default:
      preconditionFailure("'\(key)' of '\(layout.entity.name ?? "")' leads to no one object")
    }
  }

  /// A composite attribute's value of a filled object.
  final func composite(_ index: Int) -> [String: Any]? {
    layout.gathered(index) { attribute($0) }
  }

  /// What a composite attribute's leaves are to be set to; traps for a value of another form.
  final func leaves(
    of index: Int, for value: Any?
  ) -> [(slot: RowSlot, value: Any?)] {
    do {
      return try layout.spread(value, over: index)
    } catch {
      preconditionFailure("'\(layout.entity.name ?? "")': \(error)")
    }
  }
}
