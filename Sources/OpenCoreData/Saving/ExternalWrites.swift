import ManagedModel

/// The files of one save: those it writes before its transaction, and those it leaves without an owner.
///
/// New files are on the disk before a row names them, and old ones go once no row names them any more:
/// a crash in between leaves a file too many, never one too few.
struct ExternalWrites {
  private struct Place: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private let storage: ExternalStorage
  private var references: [Place: Data] = [:]
  private var written: [ExternalFile] = []
  private var obsolete: [ExternalFile] = []

  /// Writes the large values of a save into files.
  ///
  /// - Throws: what writing a file throws; nothing is left behind then.
  init(_ plan: SavePlan, in storage: ExternalStorage) throws {
    self.storage = storage
    do {
      for object in plan.written where !object.layout.externalSlots.isEmpty {
        let changed = object.isInserted ? nil : object.changedSlotIndices()
        for slot in object.layout.externalSlots where changed?.contains(slot.index) != false {
          try place(slot, of: object)
        }
      }
    } catch {
      takeBack()
      throw error
    }
    for object in plan.deleted {
      for slot in object.layout.externalSlots { leave(slot, of: object) }
    }
  }

  private mutating func place(_ slot: RowSlot, of object: NSManagedObject) throws {
    if !object.isInserted { leave(slot, of: object) }
    guard case .bytes(let bytes) = object.rawValue(slot),
      let value = ExternalStorage.contents(bytes) as? Data,
      value.count > storage.largestInRow
    else { return }
    let file = try storage.write(value)
    written.append(file)
    references[Place(object: ObjectIdentifier(object), slot: slot.index)] =
      ExternalStorage.reference(to: file)
  }

  /// Notes the file that the row names so far.
  private mutating func leave(_ slot: RowSlot, of object: NSManagedObject) {
    if !object.row.isNull(slot),
      let file = ExternalFile(reference: Data(object.row.bytes(slot)))
    {
      obsolete.append(file)
    }
  }

  /// What a column holds for a value that is in a file; nil for one that is in the row.
  func reference(of object: NSManagedObject, _ slot: Int) -> Data? {
    guard !references.isEmpty else { return nil }
    return references[Place(object: ObjectIdentifier(object), slot: slot)]
  }

  /// Lets the rows of written objects name the files.
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

  /// After the commit: removes the files that no row names any more.
  func settle() {
    storage.remove(obsolete)
  }

  /// After a failure: removes the files that were written.
  func takeBack() {
    storage.remove(written)
  }
}
