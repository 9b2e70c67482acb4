/// A row of one of a coordinator's stores, whatever its entity: keys are unique below one root.
struct RowKey: Hashable {
  let rootIndex: Int
  let primaryKey: Int64

  init(rootIndex: Int, primaryKey: Int64) {
    self.rootIndex = rootIndex
    self.primaryKey = primaryKey
  }

  init(_ identity: FetchedIdentity) {
    self.init(rootIndex: identity.layout.rootIndex, primaryKey: identity.primaryKey)
  }
}
