import Foundation

/// Validates values against a JSON Schema (draft 2020-12) that uses only the supported keywords.
///
/// An unknown keyword is an error, so no part of a schema is ignored.
package struct SchemaValidator {
  /// An unknown keyword or an unresolved reference.
  package struct Unknown: Error, CustomStringConvertible {
    package var description: String
  }

  /// A violation of the schema, and its path.
  package struct Problem: CustomStringConvertible {
    var path: String
    var message: String

    package var description: String { "\(path): \(message)" }
  }

  package let root: JSONValue
  private let patterns: [String: Regex<AnyRegexOutput>]

  private static let annotations: Set<String> = ["$schema", "title", "description", "deprecated"]
  private static let assertions: Set<String> = [
    "$ref", "type", "enum", "properties", "patternProperties", "additionalProperties", "required",
    "minProperties", "maxProperties", "items", "minItems", "maxItems", "minLength", "minimum",
    "maximum", "pattern",
    "anyOf", "not",
  ]

  /// Reads a schema and checks that all of its keywords are supported.
  package init(_ document: String) throws {
    let root = try JSONDecoder().decode(JSONValue.self, from: Data(document.utf8))
    var patterns: [String: Regex<AnyRegexOutput>] = [:]
    try Self.check(root, in: root, isRoot: true, &patterns)
    self.root = root
    self.patterns = patterns
  }

  /// Returns all violations; if no alternative matches, those of the alternative with the fewest.
  package func problems(of value: JSONValue) -> [Problem] {
    problems(of: value, by: root, at: "$")
  }

  private static func check(
    _ schema: JSONValue, in root: JSONValue, isRoot: Bool = false,
    _ patterns: inout [String: Regex<AnyRegexOutput>]
  ) throws {
    if case .flag = schema { return }
    for (keyword, value) in schema.object {
      switch keyword {
      case "$defs" where isRoot, "properties", "patternProperties":
        if keyword == "patternProperties" {
          for key in value.object.keys { patterns[key] = try Regex(key) }
        }
        for inner in value.object.values { try check(inner, in: root, &patterns) }
      case "items", "additionalProperties", "not": try check(value, in: root, &patterns)
      case "anyOf": for inner in value.array { try check(inner, in: root, &patterns) }
      case "pattern":
        let pattern = value.text ?? ""
        patterns[pattern] = try Regex(pattern)
      case "$ref":
        guard Self.target(of: value, in: root) != nil else {
          throw Unknown(description: "\(value) can't be resolved")
        }
      default:
        guard annotations.contains(keyword) || assertions.contains(keyword) else {
          throw Unknown(description: "unknown keyword `\(keyword)`")
        }
      }
    }
  }

  private static func target(of reference: JSONValue, in root: JSONValue) -> JSONValue? {
    let prefix = "#/$defs/"
    guard let text = reference.text, text.hasPrefix(prefix) else { return nil }
    return root.object["$defs"]?.object[String(text.dropFirst(prefix.count))]
  }

  private func problems(of value: JSONValue, by schema: JSONValue, at path: String) -> [Problem] {
    if case .flag(let isAllowed) = schema {
      return isAllowed ? [] : [Problem(path: path, message: "isn't allowed")]
    }
    var problems: [Problem] = []
    func require(_ isValid: Bool, _ message: @autoclosure () -> String) {
      if !isValid { problems.append(Problem(path: path, message: message())) }
    }
    let rules = schema.object
    if let reference = rules["$ref"], let target = Self.target(of: reference, in: root) {
      problems += self.problems(of: value, by: target, at: path)
    }
    if let type = rules["type"] {
      let known = type.text.map { [$0] } ?? type.array.compactMap(\.text)
      require(!value.types.isDisjoint(with: known), "has none of the types \(known)")
    }
    if let choices = rules["enum"] {
      require(choices.array.contains(value), "isn't one of the allowed values")
    }
    if let choices = rules["anyOf"]?.array {
      let found = choices.map { self.problems(of: value, by: $0, at: path) }
      if !found.contains(where: \.isEmpty) {
        problems.append(
          Problem(path: path, message: "matches none of \(choices.count) alternatives"))
        problems += found.min { $0.count < $1.count } ?? []
      }
    }
    if let not = rules["not"] {
      require(
        !self.problems(of: value, by: not, at: path).isEmpty, "matches a schema that isn't allowed")
    }
    switch value {
    case .text(let text):
      require(Double(text.count) >= rules["minLength"]?.number ?? 0, "is too short")
      if let pattern = rules["pattern"]?.text {
        require(matches(text, pattern), "\(text): \(pattern)")
      }
    case .number(let number):
      require(number >= rules["minimum"]?.number ?? -.infinity, "is too small")
      require(number <= rules["maximum"]?.number ?? .infinity, "is too large")
    case .array(let values):
      require(Double(values.count) >= rules["minItems"]?.number ?? 0, "has too few elements")
      let limit = rules["maxItems"]?.number ?? .infinity
      require(Double(values.count) <= limit, "has too many elements")
      if let items = rules["items"] {
        for (index, element) in values.enumerated() {
          problems += self.problems(of: element, by: items, at: "\(path)[\(index)]")
        }
      }
    case .object(let members): problems += self.problems(of: members, by: rules, at: path)
    case .null, .flag: break
    }
    return problems
  }

  private func problems(
    of members: [String: JSONValue], by rules: [String: JSONValue], at path: String
  ) -> [Problem] {
    var problems: [Problem] = []
    for key in rules["required"]?.array.compactMap(\.text) ?? [] where members[key] == nil {
      problems.append(Problem(path: path, message: "has no \(key)"))
    }
    // Most alternatives of a step fail here.
    guard problems.isEmpty else { return problems }
    if Double(members.count) < rules["minProperties"]?.number ?? 0
      || Double(members.count) > rules["maxProperties"]?.number ?? .infinity
    {
      problems.append(Problem(path: path, message: "has \(members.count) keys"))
    }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      let memberPath = "\(path).\(key)"
      var isKnown = false
      if let rule = rules["properties"]?.object[key] {
        isKnown = true
        problems += self.problems(of: value, by: rule, at: memberPath)
      }
      for (pattern, rule) in rules["patternProperties"]?.object ?? [:] where matches(key, pattern) {
        isKnown = true
        problems += self.problems(of: value, by: rule, at: memberPath)
      }
      if !isKnown, let rest = rules["additionalProperties"] {
        problems += self.problems(of: value, by: rest, at: memberPath)
      }
    }
    return problems
  }

  private func matches(_ text: String, _ pattern: String) -> Bool {
    guard let regex = patterns[pattern] else { return false }
    return text.firstMatch(of: regex) != nil
  }
}
