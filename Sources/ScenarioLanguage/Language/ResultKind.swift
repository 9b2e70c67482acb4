/// What a fetch brings: `result ids`.
package enum ResultKind: String, CaseIterable, Sendable {
  case objects
  case ids
  case count
  case dictionaries
}
