/// How large a model that is read may be.
///
/// Far above real models; there to refuse hostile files.
enum ModelLimits {
  /// The greatest number of entities.
  static let entities = 10_000
  /// The greatest number of ancestors of an entity.
  static let depth = 100
  /// The greatest number of properties, inherited ones counted in every entity.
  static let properties = 500_000
  /// The greatest number of elements of composite attributes, counted where they are used.
  static let compositeElements = 50_000
  /// How deep composite attributes may lie in each other.
  static let compositeDepth = 32
  /// The number of errors after which no more are looked for; the same for warnings.
  static let errors = 200
  /// How many names may be compared with wrong ones, to ask which was meant.
  static let comparisons = 50_000
}
