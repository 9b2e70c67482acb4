/// What `cdprof doctor` looks for, in the order in which it looks.
package enum DoctorRuleName: String, CaseIterable, Sendable {
  /// Pages, records and indexes that contradict each other.
  case integrity
  /// Metadata without a row, a UUID or a readable property list.
  case metadata
  /// A model inside the store that cannot be read, or that wants what the file does not have.
  case model
  /// `Z_PRIMARYKEY` that contradicts itself or the model.
  case entityList = "entity-list"
  /// Rows whose `Z_ENT` is no entity of their table.
  case entityNumber = "entity-number"
  /// `Z_MAX` below the largest key in use: the next object would get a key that is taken.
  case keyMaximum = "key-maximum"
  /// Values of a kind that their attribute cannot have.
  case valueType = "value-type"
  /// Mandatory attributes and to-ones that are NULL.
  case missingValue = "missing-value"
  /// To-one keys without a row, or of a row of another entity.
  case danglingKey = "dangling-key"
  /// Rows of a join table without one of their objects.
  case orphanedJoin = "orphaned-join"
  /// Members of ordered relationships without a place, or with another's.
  case orderPlace = "order-place"
  /// One-to-one relationships whose other side says something else.
  case oneSidedInverse = "one-sided-inverse"
  /// Values whose file outside of the store is missing.
  case externalFileMissing = "external-file-missing"
  /// Files outside of the store that no value names.
  case externalFileUnowned = "external-file-unowned"
  /// Values that may be outside of the store and do not say where they are.
  case externalPrefix = "external-prefix"
  /// Indexes that the model asks for and the file lacks.
  case indexMissing = "index-missing"
  /// Triggers of derived attributes and ranges that the file lacks.
  case triggerMissing = "trigger-missing"
  /// Indexes that nobody asked for and that another one makes superfluous.
  case indexRedundant = "index-redundant"
  /// Equal values under a uniqueness constraint.
  case duplicateValues = "duplicate-values"
  /// Derived attributes that are not what their formula gives.
  case derivedValue = "derived-value"
  /// History that does not fit the rows or itself.
  case history
}
