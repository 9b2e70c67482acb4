/// What one `processPendingChanges` has changed.
struct UndoUnit {
  /// Each changed object as it was.
  var snapshots: [ObjectSnapshot] = []
  var relationships: [RelationshipChange] = []
  /// Objects that were not there before.
  var appeared: [NSManagedObject] = []
  /// Objects that were deleted.
  var vanished: [NSManagedObject] = []

  var isEmpty: Bool {
    snapshots.isEmpty && appeared.isEmpty && vanished.isEmpty
  }
}
