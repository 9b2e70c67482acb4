import WorkbenchText

/// What was expected or found: a count, a list of findings, or a plan's wording.
package enum ExpectationValue: Sendable, Equatable, CustomStringConvertible {
  case number(Int)
  case names([String])
  case text(String)

  /// As a person reads it: `5,061`, `fault-storm(Mood), fault-storm(Mood.country)`, `none`.
  package var description: String {
    switch self {
    case .number(let number): NumberText.grouped(number)
    case .names(let names): names.isEmpty ? "none" : names.joined(separator: ", ")
    case .text(let text): text
    }
  }
}

extension ExpectationValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let names = try? container.decode([String].self) {
      self = .names(names)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .names(let names): try container.encode(names)
    case .text(let text): try container.encode(text)
    }
  }
}
