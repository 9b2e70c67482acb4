public import OpenCoreData

/// The objects of an entity in the order of a language, kept in order as they change.
///
/// SQLite sorts by bytes, which isn't an order for people, and sorting 4,000 names by a language costs a
/// third of a second. So the sorted array is kept, and touched only when it has to be: the book's
/// chapter 13. Belongs to the context's queue; `follow` is given the context's notes.
public final class SortedObjects<Object: NSManagedObject> {
  /// The objects, in order.
  public private(set) var objects: [Object]
  /// How often two texts have been compared.
  public private(set) var comparisons = 0
  /// How often all of them have been sorted.
  public private(set) var sorts = 0

  private let key: String
  /// Of the first objects; others that change are not of this list.
  private let entity: NSEntityDescription?
  private let locale: Locale
  private weak var context: NSManagedObjectContext?

  /// Sorts objects by a text attribute; fires the faults among them.
  ///
  /// - Parameters:
  ///   - objects: All there are.
  ///   - key: The attribute that people see.
  ///   - locale: Whose order is kept.
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

  /// Takes objects over that were kept in order, as an ordered relationship does; nil when they were
  /// sorted under another signature, so that they have to be sorted again.
  ///
  /// Compares nothing and fires nothing. The book's chapter 13, "persisting the sorted array".
  ///
  /// - Parameters:
  ///   - objects: All there are, in the order kept.
  ///   - signature: What `signature(for:)` gave when the order was made.
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

  /// What an order depends on besides the objects: the locale, and the system that compares.
  ///
  /// To be stored beside an order that is kept.
  public static func signature(for locale: Locale) -> String {
    "\(locale.identifier) \(ProcessInfo.processInfo.operatingSystemVersionString)"
  }

  /// Takes a note that objects have changed; the name is `NSManagedObjectContextObjectsDidChange`.
  ///
  /// A new object is put in its place, with about log₂ of the count comparisons. All are sorted when
  /// one is renamed, or refreshed, as those are that another context has changed. Other changes, and
  /// those of another context, cost nothing.
  public func follow(_ note: Notification) {
    guard let context, note.object as? NSManagedObjectContext === context else { return }
    let deleted = objects(NSDeletedObjectsKey, of: note)
    if !deleted.isEmpty { objects.removeAll { deleted.contains($0) } }
    let renamed = objects(NSUpdatedObjectsKey, of: note).contains {
      $0.changedValues()[key] != nil
    }
    let inserted = objects(NSInsertedObjectsKey, of: note)
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

  /// Texts are read once, not at each comparison.
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
