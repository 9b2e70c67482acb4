import ManagedModel

/// Why a predicate or a sort descriptor cannot become SQL.
struct TranslationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The part that has no SQL, as it would be written.
  let piece: String

  /// What is wrong with it, a sentence.
  let reason: String

  /// The name that was probably meant.
  var suggestion: String?

  /// The names that could stand there.
  var choices: [String] = []

  init(_ piece: String, _ reason: String) {
    self.piece = piece
    self.reason = reason
  }

  /// A key which the entity does not have.
  init(unknownKey key: String, in keyPath: String, of entity: NSEntityDescription) {
    let names = entity.propertiesByName.keys.sorted()
    piece = keyPath
    reason = "\(entity.name ?? "The entity") has no property \(key)."
    choices = names
    suggestion = NearestName.of(key, among: names)
  }

  var description: String { message }

  /// What is wrong with what, what was probably meant, and what there is.
  var message: String {
    var text = "\(piece): \(reason)"
    if let suggestion { text += " Did you mean \(suggestion)?" }
    if !choices.isEmpty { text += " There are: \(choices.joined(separator: ", "))." }
    return text
  }
}
