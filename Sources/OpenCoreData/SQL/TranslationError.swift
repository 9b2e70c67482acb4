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
    suggestion = Self.nearest(to: key, among: names)
  }

  var description: String { message }

  /// What is wrong with what, what was probably meant, and what there is.
  var message: String {
    var text = "\(piece): \(reason)"
    if let suggestion { text += " Did you mean \(suggestion)?" }
    if !choices.isEmpty { text += " There are: \(choices.joined(separator: ", "))." }
    return text
  }

  /// A name that contains the word or is contained in it, else one that differs by few letters.
  private static func nearest(to word: String, among names: [String]) -> String? {
    let lower = word.lowercased()
    let containing = names.filter {
      let name = $0.lowercased()
      return min(name.count, lower.count) > 2 && (name.contains(lower) || lower.contains(name))
    }
    return containing.min { $0.count < $1.count } ?? NearestName.of(word, among: names)
  }
}
