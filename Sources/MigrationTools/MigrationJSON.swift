package import Foundation
import OpenCoreData
import StoreTools
import WorkbenchText

/// The JSON format of a rehearsal.
package enum MigrationJSON {
  /// Returns a rehearsal as one JSON object with sorted keys, followed by a newline.
  ///
  /// - Parameter showsValues: Whether to include values of the store, which can be private.
  package static func data(
    _ rehearsal: MigrationRehearsal, showsValues: Bool = false
  ) throws -> Data {
    try JSONOutput.lines(Document(rehearsal, showsValues))
  }

  /// Returns the object of a migration that can't be rehearsed, with the reason: there are no
  /// steps, and nothing is known about the version of the store.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - version: The version to migrate to, or the path of its model.
  ///   - reason: The error.
  package static func data(
    refusing store: URL, to version: String, _ reason: String
  ) throws -> Data {
    try JSONOutput.lines(Document(refusing: store, to: version, reason))
  }

  private struct Document: Encodable {
    let from: String
    let to: String
    let fromVersion: String?
    let current: Bool
    let inferred: Bool
    let refused: String?
    let refusals: [Refusal]
    let policies: [Policy]
    let seconds: Double
    let bytesBefore: Int
    let bytesAfter: Int
    let path: [PathStep]
    let steps: [Step]
    let lost: [Loss]
    let renames: [Rename]
    let violations: [Violation]
    let growth: Growth?
    let warnings: [String]
    let preserved: Bool
    let doctor: [String]

    init(_ rehearsal: MigrationRehearsal, _ showsValues: Bool) {
      from = rehearsal.store.path
      to = rehearsal.version
      let former = rehearsal.route.source.name
      fromVersion = former.isEmpty ? nil : former
      current = rehearsal.isCurrent
      inferred = rehearsal.isInferred
      let reasons = MigrationText.reasons(rehearsal)
      refused = reasons.isEmpty ? nil : reasons.joined(separator: " ")
      switch rehearsal.refusal {
      case .notInferable(let gap):
        (refusals, policies) = (gap.obstacles.map(Refusal.init), [])
      case .policies(let found, let from, let to):
        refusals = []
        policies = found.map {
          Policy(mapping: $0.mapping, class: $0.className, from: from, to: to)
        }
      case nil: (refusals, policies) = ([], [])
      }
      seconds = rehearsal.seconds
      (bytesBefore, bytesAfter) = rehearsal.sizes
      path = rehearsal.steps.map(PathStep.init)
      steps = rehearsal.steps.enumerated().flatMap { index, step in
        step.work.map { Step($0, index) }
      }
      lost = rehearsal.steps.enumerated().flatMap { index, step in
        step.losses.map { Loss($0, index) }
      }
      renames = rehearsal.steps.flatMap(\.suspectedRenames).map(Rename.init)
      violations = rehearsal.violations.map { Violation($0, showsValues) }
      growth = rehearsal.growth.map(Growth.init)
      warnings = rehearsal.warnings
      preserved = rehearsal.isPreserving
      doctor = (rehearsal.doctor?.findings ?? []).map(\.message)
    }

    init(refusing store: URL, to version: String, _ reason: String) {
      (from, to, fromVersion, refused) = (store.path, version, nil, reason)
      (current, inferred, preserved) = (false, false, false)
      (seconds, bytesBefore, bytesAfter) = (0, 0, 0)
      (refusals, policies, path, steps) = ([], [], [], [])
      (lost, renames, violations, growth) = ([], [], [], nil)
      (warnings, doctor) = ([], [])
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(from, forKey: .from)
      try container.encode(to, forKey: .to)
      // Null rather than missing.
      try container.encode(fromVersion, forKey: .fromVersion)
      try container.encode(current, forKey: .current)
      try container.encode(inferred, forKey: .inferred)
      try container.encode(refused, forKey: .refused)
      try container.encode(refusals, forKey: .refusals)
      try container.encode(policies, forKey: .policies)
      try container.encode(seconds, forKey: .seconds)
      try container.encode(bytesBefore, forKey: .bytesBefore)
      try container.encode(bytesAfter, forKey: .bytesAfter)
      try container.encode(path, forKey: .path)
      try container.encode(steps, forKey: .steps)
      try container.encode(lost, forKey: .lost)
      try container.encode(renames, forKey: .renames)
      try container.encode(violations, forKey: .violations)
      try container.encode(growth, forKey: .growth)
      try container.encode(warnings, forKey: .warnings)
      try container.encode(preserved, forKey: .preserved)
      try container.encode(doctor, forKey: .doctor)
    }

    private enum Key: String, CodingKey {
      case from, to, fromVersion, current, inferred, refused, refusals, policies, seconds
      case bytesBefore, bytesAfter, path, steps, lost, renames, violations, growth, warnings
      case preserved, doctor
    }
  }

  private struct Refusal: Encodable {
    let subject: String
    let entity: String?
    let name: String?
    let change: String
    let reason: String?
    let leastChange: String?

    init(_ difference: ModelDifference) {
      subject = difference.subject.rawValue
      entity = difference.entity
      name = difference.name
      change = difference.detail ?? difference.kind.rawValue
      reason = difference.reason
      leastChange = difference.leastChange
    }
  }

  private struct Policy: Encodable {
    let mapping: String
    let `class`: String
    let from: String
    let to: String
  }

  private struct PathStep: Encodable {
    let from: String
    let to: String
    let inferred: Bool
    let mappings: [String]
    let differences: [String]
    let rows: Int
    let seconds: Double
    let bytesWritten: Int?
    let peakMemory: Int?
    let memoryBefore: Int?
    let peakSQLiteMemory: Int
    let peakDisk: Int

    init(_ step: MigrationRehearsal.Step) {
      (from, to, inferred) = (step.from, step.to, step.isInferred)
      mappings = step.mappings
      differences = step.differences.map(MigrationText.summary)
      rows = step.rows
      seconds = step.costs.seconds
      bytesWritten = step.costs.bytesWritten
      peakMemory = step.costs.peakMemory
      memoryBefore = step.costs.memoryBefore
      peakSQLiteMemory = step.costs.peakSQLiteMemory
      peakDisk = step.costs.peakDisk
    }
  }

  private struct Step: Encodable {
    let name: String
    let sql: String
    let rows: Int
    let seconds: Double
    /// The number of source instances of a pass.
    let instances: Int?
    /// The position in `path`.
    let step: Int

    init(_ work: MigrationRehearsal.Work, _ step: Int) {
      (name, sql, rows, seconds) = (work.name, work.sql, work.rows, work.seconds)
      (instances, self.step) = (work.instances, step)
    }
  }

  private struct Loss: Encodable {
    let entity: String
    let property: String?
    let values: Int
    let aspect: String
    let step: Int

    init(_ loss: MigrationLoss, _ step: Int) {
      (entity, property, values, self.step) = (loss.entity, loss.property, loss.values, step)
      aspect =
        switch loss.aspect {
        case .value: "value"
        case .precision: "precision"
        case .order: "order"
        case .entity: "entity"
        }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(entity, forKey: .entity)
      try container.encode(property, forKey: .property)
      try container.encode(values, forKey: .values)
      try container.encode(aspect, forKey: .aspect)
      try container.encode(step, forKey: .step)
    }

    private enum Key: String, CodingKey {
      case entity, property, values, aspect, step
    }
  }

  private struct Rename: Encodable {
    let entity: String?
    let removed: String
    let added: String
    let kind: String
    let identifier: String

    init(_ rename: SuspectedRename) {
      (entity, removed, added) = (rename.entity, rename.removed, rename.added)
      (kind, identifier) = (rename.kind, rename.identifier)
    }
  }

  private struct Violation: Encodable {
    let entity: String
    let property: String?
    let rows: Int?
    let reason: String
    let samples: [String]?

    init(_ violation: MigrationTrial.Violation, _ showsValues: Bool) {
      (entity, rows, reason) = (violation.entity, violation.rows, violation.reason)
      property = violation.property.isEmpty ? nil : violation.property
      samples = showsValues ? violation.samples : nil
    }
  }

  private struct Growth: Encodable {
    struct Size: Encodable {
      let factor: Int
      let rows: Int
      let seconds: Double
    }

    let sizes: [Size]
    let obstacle: String?
    let secondsPerRow: Double?
    let rowsAtLimit: Int?
    let limitSeconds: Double

    init(_ growth: MigrationGrowth) {
      sizes = growth.sizes.map { Size(factor: $0.factor, rows: $0.rows, seconds: $0.seconds) }
      obstacle = growth.obstacle
      secondsPerRow = growth.line?.perRow
      rowsAtLimit = growth.rowsAtLimit
      limitSeconds = MigrationGrowth.launchLimit
    }
  }
}
