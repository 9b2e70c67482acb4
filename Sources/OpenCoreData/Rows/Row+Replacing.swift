extension Row {
  /// A row of the same version with other values in some slots, with a count for the caller.
  func replacing(_ values: [(slot: RowSlot, value: RowValue)], in layout: EntityLayout) -> Row {
    var builder = RowBuilder(layout: layout)
    builder.copy(self)
    for (slot, value) in values { builder.set(value, at: slot) }
    return builder.finish(version: version)
  }
}
