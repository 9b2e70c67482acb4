/// A JSON value that distinguishes numbers from Booleans.
enum JSONValue: Decodable, Equatable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let array = try? value.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  var object: [String: JSONValue] {
    if case .object(let members) = self { members } else { [:] }
  }

  var array: [JSONValue] {
    if case .array(let values) = self { values } else { [] }
  }

  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  /// The names of the JSON Schema types that the value has.
  var types: Set<String> {
    switch self {
    case .null: ["null"]
    case .flag: ["boolean"]
    case .number(let number): number == number.rounded() ? ["number", "integer"] : ["number"]
    case .text: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }
}
