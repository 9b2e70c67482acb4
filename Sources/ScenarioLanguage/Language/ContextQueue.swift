/// The queue of a context: `queue main`.
package enum ContextQueue: String, CaseIterable, Sendable {
  case main
  case background
}
