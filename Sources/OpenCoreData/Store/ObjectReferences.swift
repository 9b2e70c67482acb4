import ManagedModel

/// The primary keys that stand for the reference objects of a program's own store.
///
/// A positive integer below 2^62 is its own key. Any other reference object, such as a string, gets
/// a key from 2^62 on, and both stay in memory as long as the store's object IDs. Any thread may
/// use it.
final class ObjectReferences: @unchecked Sendable {  // `table` is used under `lock`
  private struct Reference: Hashable {
    let rootIndex: Int
    let object: AnyHashable
  }

  private struct Table {
    var keys: [Reference: Int64] = [:]
    var objects: [RowKey: AnyHashable] = [:]
    /// The layouts of objects of subentities.
    var layouts: [RowKey: EntityLayout] = [:]
  }

  private let lock = NSLock()
  private var table = Table()
  /// The first key of a reference object that isn't its own key.
  static let firstKey: Int64 = 1 << 62

  /// Returns the key for a reference object of an entity; the same for equal objects.
  func key(for object: Any, _ layout: EntityLayout) -> Int64 {
    if let integer = ObjectReferences.integer(object) { return key(ofInteger: integer, layout) }
    return key(of: ObjectReferences.hashable(object), layout)
  }

  /// Returns the key for an integer.
  func key(ofInteger integer: Int64, _ layout: EntityLayout) -> Int64 {
    guard integer > 0, integer < ObjectReferences.firstKey else {
      return key(of: AnyHashable(integer), layout)
    }
    remember(layout, integer)
    return integer
  }

  private func key(of object: AnyHashable, _ layout: EntityLayout) -> Int64 {
    let reference = Reference(rootIndex: layout.rootIndex, object: object)
    let key = lock.withLock {
      if let key = table.keys[reference] { return key }
      let key = ObjectReferences.firstKey + Int64(table.keys.count)
      table.keys[reference] = key
      table.objects[RowKey(rootIndex: reference.rootIndex, primaryKey: key)] = reference.object
      return key
    }
    remember(layout, key)
    return key
  }

  /// Returns the reference object of a key: a string, an `NSNumber`, or what the store passed.
  func object(for key: RowKey) -> Any {
    guard key.primaryKey >= ObjectReferences.firstKey else {
      return NSNumber(value: key.primaryKey)
    }
    let found = lock.withLock { table.objects[key]?.base }
    if let integer = found as? Int64 { return NSNumber(value: integer) }
    return found ?? NSNumber(value: key.primaryKey)
  }

  /// Returns the layout of an object by its key.
  ///
  /// - Parameter root: The layout of the root entity, for an object of that entity.
  func layout(of key: RowKey, root: EntityLayout) -> EntityLayout {
    lock.withLock { table.layouts[key] } ?? root
  }

  // MARK: URIs

  /// Returns the last component of an object's URI: `p` and the reference object.
  func component(for key: RowKey) -> String {
    let text = "\(object(for: key))"
    return "p" + (text.addingPercentEncoding(withAllowedCharacters: ObjectReferences.plain) ?? "")
  }

  /// Returns the key for the last component of a URI without its `p`: that of a string in use, of
  /// an integer if it's one, or of a string.
  func key(ofComponent component: String, _ layout: EntityLayout) -> Int64 {
    let text = component.removingPercentEncoding ?? component
    let reference = Reference(rootIndex: layout.rootIndex, object: AnyHashable(text))
    if let key = lock.withLock({ table.keys[reference] }) { return key }
    if let integer = Int64(text), "\(integer)" == text { return key(for: integer, layout) }
    return key(for: text, layout)
  }

  private static let plain = CharacterSet.urlPathAllowed.subtracting(
    CharacterSet(charactersIn: "/%"))

  // MARK: Reference objects

  /// Records the entity of an object that isn't of the root entity.
  private func remember(_ layout: EntityLayout, _ key: Int64) {
    guard layout.entity.superentity != nil else { return }
    lock.withLock {
      table.layouts[RowKey(rootIndex: layout.rootIndex, primaryKey: key)] = layout
    }
  }

  private static func integer(_ object: Any) -> Int64? {
    if let integer = object as? Int64 { return integer }
    if let integer = object as? Int { return Int64(integer) }
    if object is String { return nil }
    if let number = object as? NSNumber {
      let integer = number.int64Value
      return number == NSNumber(value: integer) ? integer : nil
    }
    return (object as? any BinaryInteger).flatMap { Int64(exactly: $0) }
  }

  private static func hashable(_ object: Any) -> AnyHashable {
    if let text = object as? String { return AnyHashable(text) }
    if let text = object as? NSString { return AnyHashable(String(describing: text)) }
    return object as? AnyHashable ?? AnyHashable("\(object)")
  }
}
