/// The version of this package, for `--version` and for results.
package enum ToolVersion {
  /// `MAJOR.MINOR.PATCH`; CHANGELOG.md has the same at its top.
  package static let current = "0.1.0"
}
