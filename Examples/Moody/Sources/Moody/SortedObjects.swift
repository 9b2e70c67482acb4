public import OpenCoreData

/// The objects of an entity in localized order, kept sorted as they change.
///
/// SQLite sorts by bytes, which isn't a localized order, and sorting 4,000 names by locale takes a
/// third of a second. Therefore, the sorted array is kept and changed only when necessary; see
/// chapter 13 of the book. Use this class on the context's queue, and pass the context's
/// notifications to `follow(_:)`.
public final class SortedObjects<Object: NSManagedObject> {
  /// The sorted objects.
  public private(set) var objects: [Object]
  /// The number of string comparisons.
  public private(set) var comparisons = 0
  /// The number of times that all objects were sorted.
  public private(set) var sorts = 0

  private let key: String
  /// The entity of the initial objects.
  ///
  /// Changes of other objects are ignored.
  private let entity: NSEntityDescription?
  private let locale: Locale
  private weak var context: NSManagedObjectContext?

  /// Sorts objects by a string attribute, which fires the faults among them.
  ///
  /// - Parameters:
  ///   - objects: All objects of the entity.
  ///   - key: The string attribute to sort by.
  ///   - context: The context of the objects.
  ///   - locale: The locale of the order.
  public init(
    _ objects: [Object], by key: String, in context: NSManagedObjectContext, locale: Locale
  ) {
    self.objects = objects
    self.key = key
    entity = objects.first?.entity
    self.locale = locale
    self.context = context
    sort()
  }

  /// Uses objects in a stored order, such as that of an ordered relationship.
  ///
  /// Returns `nil` if they were sorted with another signature and must be sorted again.
  ///
  /// Compares no strings and fires no faults. See chapter 13 of the book, "persisting the sorted
  /// array".
  ///
  /// - Parameters:
  ///   - objects: All objects, in the stored order.
  ///   - signature: The result of `signature(for:)` when the order was stored.
  ///   - key: The string attribute that the objects are sorted by.
  ///   - context: The context of the objects.
  ///   - locale: The locale of the order.
  public init?(
    kept objects: [Object], under signature: String?, by key: String,
    in context: NSManagedObjectContext, locale: Locale
  ) {
    guard signature == SortedObjects.signature(for: locale) else { return nil }
    self.objects = objects
    self.key = key
    entity = objects.first?.entity
    self.locale = locale
    self.context = context
  }

  /// Returns a signature of what an order depends on, other than the objects: the locale and the
  /// operating system version.
  ///
  /// Store it with the order.
  public static func signature(for locale: Locale) -> String {
    "\(locale.identifier) \(ProcessInfo.processInfo.operatingSystemVersionString)"
  }

  /// Processes a notification with the name `NSManagedObjectContextObjectsDidChange`.
  ///
  /// A new object is inserted at its position, with about log₂ *n* comparisons. All objects are
  /// sorted again if one is renamed or refreshed, as happens when another context changes it. Other
  /// changes, and those of other contexts, cost nothing.
  public func follow(_ note: Notification) {
    guard let context, note.object as? NSManagedObjectContext === context else { return }
    let deleted = objects(NSDeletedObjectsKey, of: note)
    if !deleted.isEmpty { objects.removeAll { deleted.contains($0) } }
    let renamed = objects(NSUpdatedObjectsKey, of: note).contains {
      $0.changedValues()[key] != nil
    }
    // A fetch also returns unsaved objects, before the context has reported them.
    let inserted = objects(NSInsertedObjectsKey, of: note).subtracting(objects)
    if renamed || !objects(NSRefreshedObjectsKey, of: note).isEmpty {
      objects += inserted
      sort()
    } else {
      for object in inserted { insert(object) }
    }
  }

  private func objects(_ key: String, of note: Notification) -> Set<Object> {
    let all = note.userInfo?[key] as? Set<NSManagedObject> ?? []
    return Set(
      all.compactMap { object in
        entity.map(object.entity.isKind(of:)) ?? true ? object as? Object : nil
      })
  }

  private func text(_ object: Object) -> String {
    object.value(forKey: key) as? String ?? ""
  }

  private func precedes(_ first: String, _ second: String) -> Bool {
    comparisons += 1
    return first.compare(second, options: [.caseInsensitive, .numeric], range: nil, locale: locale)
      == .orderedAscending
  }

  /// Read each string only once, not for each comparison.
  private func sort() {
    sorts += 1
    objects = objects.map { (text: text($0), object: $0) }
      .sorted { precedes($0.text, $1.text) }.map(\.object)
  }

  private func insert(_ object: Object) {
    let text = text(object)
    var (low, high) = (0, objects.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(text, self.text(objects[middle])) { high = middle } else { low = middle + 1 }
    }
    objects.insert(object, at: low)
  }
}
