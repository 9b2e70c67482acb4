/// What a difference of two models means for a store that was made with the first.
///
/// The cases are in the order of their weight.
package enum MigrationEffect: String, Sendable, Comparable, CaseIterable {
  /// The store opens as it is: the version hashes are the same.
  case none
  /// The store is migrated with a mapping that is inferred.
  case lightweight
  /// Nothing can be inferred: it takes a mapping of one's own.
  case custom

  package static func < (left: MigrationEffect, right: MigrationEffect) -> Bool {
    (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
  }
}
