/// An object that a key path has reached.
struct TranslationPosition {
  enum Place {
    /// Its row is in a table of the `FROM` already.
    case table(alias: String)
    /// Only its key is known. Its row is joined when a column of it is needed, under the alias if
    /// one was set aside; `holder` is the table the key stands in.
    case reference(holder: String, alias: String?)
  }

  let entity: SQLEntity

  /// The object's key as SQL: `t0.Z_PK`, `t0.ZCOUNTRY`.
  let key: String

  let place: Place

  init(entity: SQLEntity, alias: String) {
    self.entity = entity
    key = "\(alias).\(SQLNames.primaryKey)"
    place = .table(alias: alias)
  }

  init(entity: SQLEntity, key: String, holder: String, alias: String? = nil) {
    self.entity = entity
    self.key = key
    place = .reference(holder: holder, alias: alias)
  }
}
