public import OpenCoreData

/// An object that records which of its attributes the user has changed since they were last sent to
/// the server.
///
/// The record is one integer with a bit for each attribute. Moods don't need it, because they don't
/// change after they're inserted. See chapter 9 of the book.
public protocol LocallyChangeTracked: NSManagedObject {
  /// The attributes in the order of their bits, at most 63.
  ///
  /// Stores contain the bits, so append new attributes at the end.
  static var trackedAttributes: [String] { get }
  /// The bits of the changed attributes.
  var locallyChangedAttributes: Int64 { get set }
}

extension LocallyChangeTracked {
  /// The attribute name of `locallyChangedAttributes`.
  public static var localChangesKey: String { "locallyChangedAttributes" }

  /// Sets the bits of the changed attributes, if the context is one that the user changes.
  ///
  /// Call this method in `willSave()`.
  public func markChangedAttributes() {
    guard managedObjectContext?.tracksLocalChanges == true else { return }
    for key in changedValues().keys where Self.trackedAttributes.contains(key) {
      markAttributeAsLocallyChanged(forKey: key)
    }
  }

  /// Sets the bit of an attribute.
  public func markAttributeAsLocallyChanged(forKey key: String) {
    setLocalChanges(locallyChangedAttributes | Self.bit(forKey: key))
  }

  /// Clears the bit of an attribute, after its value was sent to the server.
  ///
  /// If the user may have changed the attribute while it was sent, compare its value with the sent
  /// one first; otherwise, the later change is never sent.
  public func unmarkAttributeAsLocallyChanged(forKey key: String) {
    setLocalChanges(locallyChangedAttributes & ~Self.bit(forKey: key))
  }

  /// Returns whether the bit of an attribute is set.
  public func isLocallyChanged(forKey key: String) -> Bool {
    locallyChangedAttributes & Self.bit(forKey: key) != 0
  }

  /// Returns a predicate for all objects with a changed attribute.
  public static func locallyChangedPredicate(forKey key: String) -> NSPredicate {
    NSPredicate(format: "(%K & %lld) != 0", localChangesKey, bit(forKey: key))
  }

  /// Returns a predicate for all objects whose attributes, except for one, haven't changed.
  public static func onlyLocallyChangedPredicate(forKey key: String) -> NSPredicate {
    NSPredicate(format: "%K == %lld", localChangesKey, bit(forKey: key))
  }

  private static func bit(forKey key: String) -> Int64 {
    guard let index = trackedAttributes.firstIndex(of: key) else {
      preconditionFailure("'\(key)' isn't tracked; add it to trackedAttributes of \(Self.self)")
    }
    precondition(index < 63, "trackedAttributes of \(Self.self) has more than 63 attributes")
    return 1 << Int64(index)
  }

  /// Setting an equal value would cause another pass of `willSave()`.
  private func setLocalChanges(_ bits: Int64) {
    if locallyChangedAttributes != bits { locallyChangedAttributes = bits }
  }
}

extension NSManagedObjectContext {
  private static let tracking = "TracksLocalChanges"

  /// Whether the user's changes are made in this context.
  ///
  /// Set it in the view context only. Changes that come from the server must not be sent back.
  public var tracksLocalChanges: Bool {
    get { userInfo[Self.tracking] as? Bool ?? false }
    set { userInfo[Self.tracking] = newValue }
  }
}
