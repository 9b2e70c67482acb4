/// An object that stands for a row: a managed object or its ID.
///
/// The two are the same to a predicate.
package protocol ManagedObjectReference {
  /// Equal for an object and its ID.
  var referenceIdentity: AnyHashable { get }
  /// False while the identity may still change, that is, for temporary IDs.
  var hasStableIdentity: Bool { get }
}
