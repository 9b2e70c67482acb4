import ManagedModel

/// The identity of an object: its store, its entity's table, and its primary key.
///
/// Can be used on any queue. Two IDs of the same row are equal, even if they name different
/// entities of its hierarchy.
public final class NSManagedObjectID: NSObject, @unchecked Sendable {
  // Immutable; the layout is frozen.
  let layout: EntityLayout
  /// The key of the row; negative for a temporary ID.
  package let primaryKey: Int64
  /// `nil` for a temporary ID.
  let handle: StoreHandle?
  /// The store whose row cache retains the row as long as this instance lives.
  private let rowOwner: CachingStore?

  /// The prefix of this process's temporary IDs.
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

  /// Creates an ID that owns the row that its fetch added to the row cache; the fetch added the
  /// owner.
  init(owning layout: EntityLayout, primaryKey: Int64, store: CachingStore) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.handle = store.handle
    self.rowOwner = store
  }

  deinit {
    rowOwner?.removeSpareOwner(rootIndex: layout.rootIndex, keys: CollectionOfOne(primaryKey))
  }

  /// The identity under which the row is or will be stored.
  var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }

  /// The entity of the object.
  public var entity: NSEntityDescription {
    layout.entity
  }

  /// The store that contains the row; `nil` for a temporary ID, and after the store was removed.
  public var persistentStore: NSPersistentStore? {
    handle?.store
  }

  /// Whether the object hasn't been saved yet; saving assigns it a permanent ID.
  public var isTemporaryID: Bool {
    primaryKey <= 0
  }

  /// Returns `x-coredata://STORE/Entity/p4`, or `x-coredata:///Entity/t…` for a temporary ID.
  ///
  /// In a program's own store, `p` is followed by the reference object.
  public func uriRepresentation() -> URL {
    URL(string: unencodedURI) ?? URL(fileURLWithPath: "/")
  }

  /// The string of `uriRepresentation()`.
  ///
  /// **Cost:** no URL is created, except for a store identifier or an entity name that a URL can't
  /// contain.
  package var uri: String {
    let uri = unencodedURI
    let isEncoded = uri.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isEncoded ? uri : uriRepresentation().absoluteString
  }

  private var unencodedURI: String {
    let name = layout.entityName
    return isTemporaryID
      ? "x-coredata:///\(name)/t\(NSManagedObjectID.process)\(-primaryKey)"
      : "x-coredata://\(handle?.identifier ?? "")/\(name)/\(permanentComponent)"
  }

  /// The last component of a permanent ID's URI.
  private var permanentComponent: String {
    guard let references = handle?.references else { return "p\(primaryKey)" }
    return references.component(for: RowKey(identity))
  }

  /// Returns whether both identify the same row of the same store, or the same new object.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    return primaryKey == other.primaryKey && identityIndex == other.identityIndex
      && handle === other.handle
  }

  /// A hash consistent with `isEqual`.
  public override var hash: Int {
    // Sets and dictionaries hash it again.
    Int(truncatingIfNeeded: primaryKey) ^ identityIndex << 48
  }

  /// The index of the root entity in its store; in no store for a temporary ID, because the object
  /// can still be assigned to another one.
  private var identityIndex: Int {
    primaryKey > 0 ? layout.rootIndex : layout.rootIndex &- layout.rootOffset
  }

  /// The entity and the URI, as Core Data prints them.
  public override var description: String {
    "<\(uriRepresentation().absoluteString)>"
  }
}

extension NSManagedObjectID: NSCopying {
  /// Returns itself: an ID is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSManagedObjectID: ManagedObjectReference, URIRepresentable {
  /// The ID itself.
  package var referenceIdentity: AnyHashable { AnyHashable(self) }

  /// `false` for a temporary ID.
  package var hasStableIdentity: Bool { !isTemporaryID }

  /// The primary key; for a temporary ID, a number after all keys, in the order of insertion.
  package var positionByID: UInt64 { Self.positionByID(of: primaryKey) }

  /// Returns the position of a primary key, or of a temporary key, in an order by object IDs.
  static func positionByID(of key: Int64) -> UInt64 {
    key > 0 ? UInt64(key) : (1 << 63) &+ key.magnitude
  }
}
