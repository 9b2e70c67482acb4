import ManagedModel

/// The external data files of one save: the ones it writes before its transaction, and the ones it
/// no longer needs.
///
/// New files are written before a row refers to them, and old ones are removed after no row does: a
/// crash or a power loss in between leaves an unused file, but never a missing one.
struct ExternalWrites {
  private struct ValueKey: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private let store: SQLiteStore
  private var references: [ValueKey: Data] = [:]
  private var written: [ExternalFile] = []
  private var obsolete: [ExternalFile] = []

  /// Writes the large values of a save to files.
  ///
  /// - Throws: The file system's errors; written files are removed then.
  init(_ plan: SavePlan, of store: SQLiteStore) throws {
    self.store = store
    do {
      for object in plan.written(where: { !$0.externalSlots.isEmpty }) {
        let changed = object.isInserted ? nil : object.changedSlotIndices()
        for slot in object.layout.externalSlots where changed?.contains(slot.index) != false {
          try write(slot, of: object)
        }
      }
      if !written.isEmpty { try store.external.syncNames() }
    } catch {
      removeWrittenFiles()
      throw error
    }
    for object in plan.deleted {
      for slot in object.layout.externalSlots { leave(slot, of: object) }
    }
  }

  private mutating func write(_ slot: RowSlot, of object: NSManagedObject) throws {
    if !object.isInserted { leave(slot, of: object) }
    guard case .bytes(let bytes) = object.rawValue(slot),
      let value = ExternalStorage.contents(bytes) as? Data,
      value.count > store.external.largestInRow
    else { return }
    let file = ExternalFile()
    written.append(file)
    try store.external.write(value, to: file)
    references[ValueKey(object: ObjectIdentifier(object), slot: slot.index)] =
      ExternalStorage.reference(to: file)
  }

  /// Records the file that the row has referred to so far; an undo manager keeps its value.
  private mutating func leave(_ slot: RowSlot, of object: NSManagedObject) {
    guard let file = object.externalFile(slot, in: object.row) else { return }
    obsolete.append(file)
    if let recorder = object.context?.undoState.recorder,
      let value = try? store.externalData(file)
    {
      recorder.keep(value, of: file)
    }
  }

  /// Returns the column value of an externally stored value; `nil` for a value in the row.
  func reference(of object: NSManagedObject, _ slot: Int) -> Data? {
    guard !references.isEmpty else { return nil }
    return references[ValueKey(object: ObjectIdentifier(object), slot: slot)]
  }

  /// Sets the references to the files in the rows of written objects.
  func name(in rows: inout [Row], of objects: [NSManagedObject]) {
    guard !references.isEmpty else { return }
    for (index, object) in objects.enumerated() {
      let values = object.layout.externalSlots.compactMap { slot in
        reference(of: object, slot.index).map { (slot, RowValue.bytes($0)) }
      }
      guard !values.isEmpty else { continue }
      let row = rows[index].replacing(values, in: object.layout)
      rows[index].release()
      rows[index] = row
    }
  }

  /// Removes the files that no row refers to, after the commit.
  func removeObsoleteFiles() {
    store.removeExternalData(obsolete)
  }

  /// Removes the files that were written, after a failure.
  func removeWrittenFiles() {
    store.removeExternalData(written)
  }
}
