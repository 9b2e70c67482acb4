/// The limits of models, mapping models, predicates, and property lists.
///
/// They're far above those of real models, and bound the memory, time, and stack that a hostile
/// file can cost. `InputLimits` and `StoreLimits` contain the limits of other input;
/// `Documentation/limits.md` lists all of them.
package enum ModelLimits {
  // MARK: Files

  /// The maximum size of a model or mapping model, before and after decompression, in bytes.
  ///
  /// The file is read into memory at once.
  package static let fileSize = 64 << 20
  /// The maximum size of the property list of a model's versions, in bytes.
  ///
  /// It contains names and hashes of entities only.
  package static let versionListSize = 1 << 20
  /// The maximum number of XML elements of a document.
  ///
  /// Each of them becomes an object.
  package static let elements = 500_000
  /// The maximum nesting depth of XML elements.
  ///
  /// Xcode's documents have a few levels; elements are released recursively.
  package static let elementDepth = 64
  /// The maximum number of attributes of an XML element.
  ///
  /// The parser compares each of them with the others.
  package static let attributes = 10_000
  /// The maximum number of folders above a mapping model in which its models are searched.
  ///
  /// A project has fewer levels.
  package static let parentFolders = 16

  // MARK: Models

  /// The maximum number of entities.
  ///
  /// Building a model compares names of entities.
  package static let entities = 10_000
  /// The maximum number of ancestors of an entity.
  ///
  /// Inheritance is resolved by walking up the ancestors, for each property.
  package static let ancestors = 100
  /// The maximum number of properties, inherited ones counted in each entity.
  ///
  /// A chain of entities would multiply them.
  package static let properties = 500_000
  /// The maximum number of elements of composite attributes, counted where they're used.
  ///
  /// Composites in composites would multiply them.
  package static let compositeElements = 50_000
  /// The maximum nesting depth of composite attributes.
  ///
  /// They're expanded recursively.
  package static let compositeDepth = 32
  /// The maximum number of errors, and of warnings, that are collected; others are omitted.
  ///
  /// A corrupt file can have one for each element.
  package static let errors = 200
  /// The maximum number of name comparisons for suggestions; further errors have none.
  ///
  /// Each misspelled name is compared with all names.
  package static let comparisons = 50_000
  /// The maximum number of pairs of versions, in addition to neighbors, for which a mapping is
  /// inferred to find the steps of a migration.
  ///
  /// Each of them compares two models.
  package static let inferredPairs = 500

  // MARK: Archives

  /// The maximum number of entity mappings of a mapping model, and of properties of a mapping.
  ///
  /// An archive can refer to one object many times.
  package static let mappings = 100_000
  /// The maximum nesting depth of expressions in a mapping model.
  ///
  /// They're read recursively, and can contain themselves.
  package static let mappingExpressionDepth = 64
  /// The maximum nesting depth of values such as `userInfo` in an archive; deeper ones are omitted.
  ///
  /// They're read recursively, and can contain themselves.
  package static let archivedValueDepth = 32
  /// The maximum nesting depth of the archived formula of a derived attribute; deeper parts are
  /// omitted.
  ///
  /// It's read recursively, and can contain itself.
  package static let formulaDepth = 16
  /// The maximum size of the predicates and expressions of a model together, counted where they're
  /// used, in bytes.
  ///
  /// Parsed ones take a hundred times as much memory, and an archive or a composite can repeat
  /// them.
  package static let formats = 4 << 20
  /// The maximum nesting depth of objects in an archived value; a deeper value can't be read.
  ///
  /// Foundation's unarchiver is recursive.
  package static let archivedObjectDepth = 200
  /// The maximum number of values of a binary property list, or the number of its bytes if that's
  /// greater and the list isn't a model; also that of the members of an archive's lists, counted
  /// where they're used.
  ///
  /// A few bytes can refer to one value many times, so that values multiply.
  package static let propertyListValues = 1_000_000
  /// The maximum nesting depth of a binary property list.
  ///
  /// It's read recursively, and can contain itself.
  package static let propertyListDepth = 64

  // MARK: Predicates

  /// The maximum nesting depth of a predicate format, and of an archived predicate.
  ///
  /// The parser and the decoder are recursive.
  package static let predicateDepth = 200
  /// The maximum depth of a predicate that is made in code.
  ///
  /// It's evaluated, compared, and printed recursively.
  package static let predicateTreeDepth = 1_000
  /// The maximum number of steps of `MATCHES` on one string.
  ///
  /// Nested repetition such as `(a+)+` takes exponential time; this is about a second.
  package static let matchSteps = 10_000_000
}
