import ManagedModel
import SQLiteDriver

/// What a constant becomes when it is bound.
enum BindForm: Sendable {
  /// By its own type.
  case plain
  /// By the type of a column, whose affinity acts on it.
  case stored(StoredType, NSAttributeDescription?)
  /// By the type of something computed, which has no affinity.
  case computed(StoredType)
  /// As the key of an object in the table of an entity; 0, which no row has, for one that is in no
  /// row of it.
  case key(SQLEntity)
  /// The least text with that beginning.
  case prefix
  /// The least text behind all that have that beginning.
  case prefixEnd
  /// The text before the one `*` at the end, as `prefix` and as `prefixEnd`.
  case likePrefix
  case likePrefixEnd
  /// A regular expression, once it is known to be one.
  case pattern
  /// A list of texts or numbers as JSON.
  case json

  /// The value to bind, nil for a constant that has no such form.
  ///
  /// Nil becomes null.
  func value(of constant: PredicateValue, for translator: SQLTranslator) -> SQLiteValue? {
    if constant.isNull { return .null }
    switch self {
    case .plain: return Self.plain(constant)
    case .stored(let type, let attribute):
      if type == .transformable, let attribute, let original = constant.original,
        let value = translator.transformed(attribute, original)
      {
        return value
      }
      return constant.stored(as: type)
    case .computed(.decimal): return constant.stored(as: .real)
    case .computed(let type): return constant.stored(as: type)
    case .key(let entity):
      return Self.key(of: constant, as: entity, for: translator).map(SQLiteValue.integer)
    case .prefix: return constant.string.map(SQLiteValue.text)
    case .prefixEnd: return constant.string.flatMap(TextPrefix.end).map(SQLiteValue.text)
    case .likePrefix:
      return constant.string.flatMap(TextPrefix.init(like:)).map { .text($0.text) }
    case .likePrefixEnd:
      return constant.string.flatMap(TextPrefix.init(like:)).flatMap { TextPrefix.end($0.text) }
        .map(SQLiteValue.text)
    case .pattern:
      guard let text = constant.string, (try? StringMatching.matches("", text, [])) != nil else {
        return nil
      }
      return .text(text)
    case .json: return Self.json(constant)
    }
  }

  private static func plain(_ constant: PredicateValue) -> SQLiteValue? {
    guard let type = StoredType(of: constant) else { return nil }
    return constant.stored(as: type == .decimal ? .real : type)
  }

  private static func key(
    of constant: PredicateValue, as entity: SQLEntity, for translator: SQLTranslator
  ) -> Int64? {
    guard case .object(let object) = constant, let key = translator.objectKey(object.base) else {
      return nil
    }
    if let name = key.entityName, let other = translator.model.entity(named: name),
      other.root !== entity.root
    {
      return 0
    }
    return key.primaryKey ?? 0
  }

  private static func json(_ constant: PredicateValue) -> SQLiteValue? {
    guard case .collection(let collection) = constant else { return nil }
    var texts: [String] = []
    var numbers: [Double] = []
    for element in collection.elements {
      switch element {
      case .null: continue
      case .string(let text): texts.append(text)
      case .date(let date): numbers.append(date.timeIntervalSinceReferenceDate)
      default:
        guard let number = element.nearestDouble else { return nil }
        numbers.append(number)
      }
    }
    guard texts.isEmpty || numbers.isEmpty,
      let data = try? texts.isEmpty ? JSONEncoder().encode(numbers) : JSONEncoder().encode(texts)
    else { return nil }
    return .text(String(decoding: data, as: UTF8.self))
  }
}
