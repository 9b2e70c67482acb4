/// The version of this package, for `--version` and for results.
package enum ToolVersion {
  /// The version as `MAJOR.MINOR.PATCH`, the same as at the top of CHANGELOG.md.
  package static let current = "0.1.0"
}
