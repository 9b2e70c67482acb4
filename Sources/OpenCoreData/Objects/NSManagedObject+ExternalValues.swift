import ManagedModel

// Values in external data files that must survive their files: an update or a deletion of the row,
// here or elsewhere, removes the file of the value that it replaces.

extension NSManagedObject {
  /// Returns the external data file that a row of this object refers to; `nil` for a value in the
  /// row.
  final func externalFile(_ slot: RowSlot, in row: Row) -> ExternalFile? {
    guard slot.kind == .external, !row.isNull(slot) else { return nil }
    return ExternalFile(reference: Data(row.bytes(slot)))
  }

  /// Returns the value in an external data file of an earlier row, as a change to be saved in
  /// another file.
  ///
  /// **Cost:** reading the file, unless its value was read from this object or kept for undo.
  /// - Throws: The store's error if the file can't be read.
  final func externalValue(
    _ slot: RowSlot, in row: Row, file: ExternalFile
  ) throws -> ObjectValue {
    if row.base == self.row.base, values?.isChanged(slot.index) != true,
      let known = cachedValue(.slot(slot.index))
    {
      return cachedValue(known, for: slot)
    }
    guard let context, let store = context.store(for: self) else { throw NSError.noStore() }
    let kept = context.undoState.recorder?.externalValues[file]
    return .raw(.bytes(ExternalStorage.inRow(try kept ?? store.externalData(file))))
  }

  /// Sets the value in an external data file of an earlier row.
  ///
  /// If the file can't be read, a new object gets `nil`, another one keeps its row's value; the
  /// error is printed to stderr and recorded by the context.
  final func restoreExternalValue(_ slot: RowSlot, in row: Row, file: ExternalFile) {
    do {
      change(try externalValue(slot, in: row, file: file), at: slot.index)
    } catch {
      context?.noteFailure(error, "'\(slot.name)' of \(objectID) couldn't be restored")
      if isInserted || state.contains(.restored) {
        change(.null, at: slot.index)
      } else {
        values?.forget(slot.index)
      }
    }
  }
}
