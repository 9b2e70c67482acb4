/// The stores that behaviour is tested on: what holds for one holds for the other.
enum StoreKind: CaseIterable, Sendable {
  case sqlite, memory
}
