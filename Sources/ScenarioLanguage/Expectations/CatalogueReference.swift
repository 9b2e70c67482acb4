/// An id of the catalogue that a scenario covers, with where its numbers come from.
package struct CatalogueReference: Sendable, Equatable {
  package var id: String
  package var source: SourceMark

  package init(id: String, source: SourceMark) {
    self.id = id
    self.source = source
  }
}
