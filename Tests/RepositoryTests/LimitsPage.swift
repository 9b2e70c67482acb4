import Foundation

/// `Documentation/limits.md`, generated from the declarations of the limits.
enum LimitsPage {
  static let path = "Documentation/limits.md"

  /// The types, each with the file that declares it and the heading of its section.
  static let types = [
    (
      name: "InputLimits", file: "Sources/WorkbenchText/InputLimits.swift",
      heading: "Arguments, scenarios, shell lines, results, and logs"
    ),
    (
      name: "ModelLimits", file: "Sources/ManagedModel/Diagnostics/ModelLimits.swift",
      heading: "Models, mapping models, property lists, and predicates"
    ),
    (
      name: "StoreLimits", file: "Sources/SQLiteDriver/Values/StoreLimits.swift",
      heading: "Stores and SQL"
    ),
  ]

  /// A limit: its name, its value, and its doc comment as one line.
  struct Limit {
    let name: String
    let value: String
    let meaning: String
  }

  /// Returns the limits that a file declares, in order.
  static func limits(in file: String) throws -> [Limit] {
    var limits: [Limit] = []
    var comment: [Substring] = []
    for line in try Repository.lines(of: file) {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("///") {
        comment.append(text.dropFirst(3).drop { $0 == " " })
        continue
      }
      defer { comment = [] }
      guard let match = text.firstMatch(of: /^package static let (\w+)(?:: \w+)? = (.+)$/) else {
        continue
      }
      let meaning = comment.filter { !$0.isEmpty }.joined(separator: " ")
      limits.append(
        Limit(
          name: String(match.1),
          value: value(String(match.2), isSize: meaning.contains(", in bytes")),
          meaning: meaning.replacing(", in bytes", with: "")))
    }
    return limits
  }

  /// Returns `64 << 20` as `64 MiB`, and `1_000` as `1,000`.
  private static func value(_ expression: String, isSize: Bool) -> String {
    let parts = expression.components(separatedBy: " << ")
    let base = Int(Double(parts[0].replacing("_", with: "")) ?? 0)
    let shift = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
    let units = [10: "KiB", 20: "MiB", 30: "GiB"]
    if isSize, let unit = units[shift] { return "\(base) \(unit)" }
    return grouped(base << shift) + (isSize ? " bytes" : "")
  }

  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digits[index])
    }
  }

  static func text() throws -> String {
    let sections = try types.map { type in
      let rows = try limits(in: type.file).map { "| `\($0.name)` | \($0.value) | \($0.meaning) |" }
      return """
        ## \(type.heading)

        | `\(type.name)` | value | meaning |
        | --- | --- | --- |
        \(rows.joined(separator: "\n"))

        """
    }
    return """
      # Limits

      <!-- Written from the types below. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter LimitsPageTests -->

      Input beyond a limit is an error that states the limit, unless the table says what happens instead.
      The limits are far above realistic values: they bound the memory, the time, and the stack that a
      mistake or a hostile file can cost.

      \(sections.joined(separator: "\n"))
      """
  }
}
