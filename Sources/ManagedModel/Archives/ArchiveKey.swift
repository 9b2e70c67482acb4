/// The keys of compiled models that have no counterpart in Apple's form.
enum ArchiveKey {
  /// The formula of a derived attribute, as text.
  static let derivation = "cdprof.derivationExpression"
  /// The elements of a composite attribute: attributes without an entity.
  static let elements = "cdprof.elements"
  /// The validation predicates as texts, and what is said when they fail: a list of pairs.
  static let validation = "cdprof.validationPredicates"
  /// The text of what Spotlight shows for an object.
  static let spotlightName = "cdprof.coreSpotlightDisplayNameExpression"
  /// Whether the property takes part in Spotlight.
  static let spotlight = "cdprof.isIndexedBySpotlight"
  /// The least value or length.
  static let minimum = "cdprof.minimum"
  /// The greatest value or length.
  static let maximum = "cdprof.maximum"
  /// The pattern of a text.
  static let pattern = "cdprof.pattern"
  /// Whether the value is encrypted in the cloud.
  static let encrypted = "cdprof.allowsCloudEncryption"
  /// The format text of the predicate of an index.
  static let partialIndex = "cdprof.partialIndexPredicate"
  /// The text of the expression that an element of an index covers, and the type of its values.
  static let indexExpression = "cdprof.expression"
  /// Core Data's version hash of an entity.
  static let versionHash = "cdprof.versionHash"
  /// Core Data's checksum of the model.
  static let versionChecksum = "cdprof.versionChecksum"
  /// The localized names of the model.
  static let localization = "cdprof.localizationDictionary"
  /// The number of the type of an expression's values.
  static let expressionType = "cdprof.expressionResultType"
  /// The stored fetch requests of a model, or the request of a fetched property: dictionaries.
  static let templates = "cdprof.fetchRequestTemplates"
  /// The texts of a document that could not be read, by the attribute of the tag.
  static let unread = "cdprof.unreadTexts"
  /// The configurations of a model: names of entities by name.
  static let configurations = "cdprof.configurations"

  /// The bits of `_P` that every property seen has set.
  static let alwaysSet = 0xF1
  /// The bit of `_P` for an optional property.
  static let optional = 0x02
  /// The bit of `_P` for a transient property.
  static let transient = 0x08

  /// The bit of `NSFlagsKey` for large values in files.
  static let external = 0x04
  /// The bit of `NSFlagsKey` for values that the history keeps.
  static let preserved = 0x10
}
