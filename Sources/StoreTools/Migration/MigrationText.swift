package import Foundation
import OpenCoreData
import WorkbenchText

/// The text format of a rehearsal.
package enum MigrationText {
  /// Returns the lines of a report, without newlines.
  package static func lines(_ rehearsal: MigrationRehearsal) -> [String] {
    let title = MigrationJSON.title(rehearsal)
    if rehearsal.isCurrent { return ["\(title)   the store has this version already"] }
    guard rehearsal.refusals.isEmpty else {
      return ["\(title)   needs a mapping model"]
        + MigrationJSON.reasons(rehearsal).map { "  ✗ \($0)" }
    }
    guard let trial = rehearsal.trial else { return [title] }
    let rows = trial.steps.reduce(0) { $0 + $1.rows }
    var lines = [
      "\(title)   inferred: \(NumberText.counted(trial.steps.count, "statement")), "
        + "\(NumberText.counted(rows, "row")) written, "
        + String(format: "%.3f s, ", rehearsal.seconds)
        + "\(NumberText.grouped(rehearsal.sizes.before)) to "
        + "\(NumberText.grouped(rehearsal.sizes.after)) bytes"
    ]
    lines += trial.steps.map { step in
      String(format: "  %9.3f ms  ", step.seconds * 1_000)
        + PrintableText.line("\(step.name) · \(NumberText.counted(step.rows, "row"))")
    }
    if !rehearsal.losses.isEmpty { lines += ["", "Lost:"] }
    lines += rehearsal.losses.map { loss in
      guard let property = loss.property else {
        return PrintableText.line(
          "  \(NumberText.counted(loss.values, "object")) of \(loss.entity)")
      }
      return PrintableText.line(
        "  \(NumberText.counted(loss.values, "value")) of \(loss.entity).\(property)")
    }
    if !trial.violations.isEmpty { lines += ["", "Fails:"] }
    lines += trial.violations.map { PrintableText.line("  ✗ \($0.reason)") }
    if let doctor = rehearsal.doctor, !doctor.isIntact {
      lines += [""] + DoctorText.lines(doctor)
    }
    if rehearsal.isPreserving { lines += ["", "Everything is preserved."] }
    return lines
  }
}

/// The JSON format of a rehearsal.
package enum MigrationJSON {
  /// Returns a rehearsal as one JSON object with sorted keys, followed by a newline.
  package static func data(_ rehearsal: MigrationRehearsal) throws -> Data {
    try JSONOutput.lines(Document(rehearsal))
  }

  /// The store's file name, and the version.
  fileprivate static func title(_ rehearsal: MigrationRehearsal) -> String {
    PrintableText.line("\(rehearsal.store.lastPathComponent) → \(name(rehearsal))")
  }

  private static func name(_ rehearsal: MigrationRehearsal) -> String {
    rehearsal.version ?? rehearsal.model.lastPathComponent
  }

  /// The reasons why the mapping can't be inferred, a sentence or two each.
  fileprivate static func reasons(_ rehearsal: MigrationRehearsal) -> [String] {
    rehearsal.refusals.map { difference in
      let change = [difference.kind.rawValue, difference.detail].compactMap { $0 }
        .joined(separator: ", ")
      return PrintableText.line(
        "\(difference.subject.rawValue) \(difference.path): \(change)."
          + (difference.reason.map { " \($0)" } ?? ""))
    }
  }

  private struct Document: Encodable {
    let from: String
    let to: String
    let current: Bool
    let inferred: Bool
    let refused: String?
    let seconds: Double
    let bytesBefore: Int
    let bytesAfter: Int
    let steps: [Step]
    let lost: [Loss]
    let violations: [Violation]
    let doctor: [String]

    init(_ rehearsal: MigrationRehearsal) {
      from = rehearsal.store.path
      to = MigrationJSON.name(rehearsal)
      current = rehearsal.isCurrent
      inferred = rehearsal.refusals.isEmpty
      let reasons = MigrationJSON.reasons(rehearsal)
      refused = reasons.isEmpty ? nil : reasons.joined(separator: " ")
      seconds = rehearsal.seconds
      (bytesBefore, bytesAfter) = rehearsal.sizes
      steps = (rehearsal.trial?.steps ?? []).map {
        Step(name: $0.name, sql: $0.sql, rows: $0.rows, seconds: $0.seconds)
      }
      lost = rehearsal.losses.map {
        Loss(entity: $0.entity, property: $0.property, values: $0.values)
      }
      violations = (rehearsal.trial?.violations ?? []).map {
        Violation(entity: $0.entity, property: $0.property, rows: $0.rows, reason: $0.reason)
      }
      doctor = (rehearsal.doctor?.findings ?? []).map(\.message)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(from, forKey: .from)
      try container.encode(to, forKey: .to)
      try container.encode(current, forKey: .current)
      try container.encode(inferred, forKey: .inferred)
      // Null rather than missing.
      try container.encode(refused, forKey: .refused)
      try container.encode(seconds, forKey: .seconds)
      try container.encode(bytesBefore, forKey: .bytesBefore)
      try container.encode(bytesAfter, forKey: .bytesAfter)
      try container.encode(steps, forKey: .steps)
      try container.encode(lost, forKey: .lost)
      try container.encode(violations, forKey: .violations)
      try container.encode(doctor, forKey: .doctor)
    }

    private enum Key: String, CodingKey {
      case from, to, current, inferred, refused, seconds, bytesBefore, bytesAfter, steps, lost
      case violations, doctor
    }
  }

  private struct Step: Encodable {
    let name: String
    let sql: String
    let rows: Int
    let seconds: Double
  }

  private struct Loss: Encodable {
    let entity: String
    let property: String?
    let values: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(entity, forKey: .entity)
      try container.encode(property, forKey: .property)
      try container.encode(values, forKey: .values)
    }

    private enum Key: String, CodingKey {
      case entity, property, values
    }
  }

  private struct Violation: Encodable {
    let entity: String
    let property: String
    let rows: Int?
    let reason: String
  }
}
