import ManagedModel

/// The identity of an object: its store, its entity's table and its primary key.
///
/// May cross queues. Two IDs of the same row are equal, whichever of its entities they name.
public final class NSManagedObjectID: NSObject, @unchecked Sendable {
  // immutable; the layout is frozen
  let layout: EntityLayout
  let primaryKey: Int64
  /// Nil for a temporary identity.
  let handle: StoreHandle?
  /// The store whose row cache keeps the row for as long as this instance lives.
  private let rowOwner: CachingStore?

  /// Prefix of the temporary identities of this process.
  private static let process = UUID().uuidString

  convenience init(layout: EntityLayout, primaryKey: Int64, store: NSPersistentStore?) {
    self.init(layout: layout, primaryKey: primaryKey, handle: store?.handle)
  }

  init(layout: EntityLayout, primaryKey: Int64, handle: StoreHandle?) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.handle = handle
    self.rowOwner = nil
  }

  /// An ID that owns the row that its fetch put into the row cache; the fetch added the owner.
  init(owning layout: EntityLayout, primaryKey: Int64, store: CachingStore) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.handle = store.handle
    self.rowOwner = store
  }

  deinit {
    rowOwner?.disown(rootIndex: layout.rootIndex, keys: CollectionOfOne(primaryKey))
  }

  /// Where the row is or will be.
  var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }

  /// The entity of the object.
  public var entity: NSEntityDescription {
    layout.entity
  }

  /// The store that holds the row; nil for a temporary identity, and after the store was removed.
  public var persistentStore: NSPersistentStore? {
    handle?.store
  }

  /// Whether the object has not been saved yet; saving gives it another, permanent ID.
  public var isTemporaryID: Bool {
    primaryKey <= 0
  }

  /// `x-coredata://STORE/Entity/p4`, or `x-coredata:///Entity/t…` for a temporary identity.
  public func uriRepresentation() -> URL {
    let name = layout.entity.name ?? ""
    let text: String
    if isTemporaryID {
      text = "x-coredata:///\(name)/t\(NSManagedObjectID.process)\(-primaryKey)"
    } else {
      text = "x-coredata://\(handle?.identifier ?? "")/\(name)/p\(primaryKey)"
    }
    return URL(string: text) ?? URL(fileURLWithPath: "/")
  }

  /// Whether both name the same row of the same store.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    return primaryKey == other.primaryKey && layout.rootIndex == other.layout.rootIndex
      && handle === other.handle
  }

  /// Follows `isEqual`.
  public override var hash: Int {
    // Sets and dictionaries hash it once more.
    Int(truncatingIfNeeded: primaryKey) ^ layout.rootIndex << 48
  }

  /// The entity and the URI, as Apple's framework prints them.
  public override var description: String {
    "<\(uriRepresentation().absoluteString)>"
  }
}

extension NSManagedObjectID: ManagedObjectReference {
  /// The ID itself.
  package var referenceIdentity: AnyHashable { AnyHashable(self) }

  /// False for a temporary ID.
  package var hasStableIdentity: Bool { !isTemporaryID }
}
