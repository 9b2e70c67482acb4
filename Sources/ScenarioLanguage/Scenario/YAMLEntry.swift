import WorkbenchText
internal import Yams

/// A key of a YAML map with its value.
struct YAMLEntry {
  let key: Word
  let node: Node
  /// From the root: `data.Mood.count`.
  let keyPath: String
}
