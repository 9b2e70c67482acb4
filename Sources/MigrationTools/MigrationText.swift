import Foundation
package import OpenCoreData
import StoreTools
import WorkbenchText

/// The text format of a rehearsal.
package enum MigrationText {
  /// Returns the lines of a report, without newlines.
  ///
  /// - Parameter showsValues: Whether to print values of the store, which can be private.
  package static func lines(
    _ rehearsal: MigrationRehearsal, showsValues: Bool = false
  ) -> [String] {
    var lines = ["\(title(rehearsal))   \(summary(rehearsal))"]
    lines += reasons(rehearsal).map { "  ✗ \($0)" }
    let isOnly = rehearsal.route.steps.count == 1
    for step in rehearsal.steps { lines += self.lines(step, isOnly: isOnly) }
    if !rehearsal.losses.isEmpty { lines += ["", "Lost:"] }
    lines += rehearsal.losses.map { "  \(loss($0))" }
    let renames = rehearsal.steps.flatMap(\.suspectedRenames)
    if !renames.isEmpty { lines += ["", "Possible renames:"] }
    lines += renames.map { "  \(rename($0))" }
    if !rehearsal.violations.isEmpty { lines += ["", "Fails:"] }
    for violation in rehearsal.violations {
      lines.append("  ✗ \(violation.reason)")
      if showsValues { lines += violation.samples.map { "      \($0)" } }
    }
    if !showsValues, rehearsal.violations.contains(where: { !$0.samples.isEmpty }) {
      lines.append("  --show-values prints some of the duplicate values.")
    }
    if let doctor = rehearsal.doctor, !doctor.isIntact {
      lines += [""] + DoctorText.lines(doctor)
      if !rehearsal.hasNewFindings {
        lines.append("  The store already has these findings before the migration.")
      }
    }
    if let growth = rehearsal.growth { lines += self.lines(growth) }
    if !rehearsal.warnings.isEmpty { lines += ["", "Warnings:"] }
    lines += rehearsal.warnings.map { "  ▲ \($0)" }
    if rehearsal.isPreserving, !rehearsal.isCurrent { lines += ["", "Everything is preserved."] }
    return lines.map(PrintableText.line)
  }

  /// Returns the store's file name, both versions, and the configuration that the store was made
  /// with.
  package static func title(_ rehearsal: MigrationRehearsal) -> String {
    let former = rehearsal.route.source.name
    let version = former.isEmpty || former == rehearsal.version ? "" : " (\(former))"
    let configuration = rehearsal.route.configuration.map { ", configuration \($0)" } ?? ""
    return "\(rehearsal.store.lastPathComponent)\(version) → \(rehearsal.version)\(configuration)"
  }

  /// Returns how the store is migrated, or that it isn't, with the totals.
  package static func summary(_ rehearsal: MigrationRehearsal) -> String {
    if rehearsal.isCurrent { return "the store already has this version" }
    switch rehearsal.refusal {
    case .notInferable: return "needs a mapping model"
    case .policies: return "needs the app's migration policies"
    case nil: break
    }
    let work = rehearsal.steps.flatMap(\.work)
    let rows = work.reduce(0) { $0 + $1.rows }
    let inferred = rehearsal.route.steps.filter(\.mappingModels.isEmpty)
    let way =
      switch (rehearsal.route.steps.count, inferred.count) {
      case (1, 1) where rehearsal.route.type == .sqlite:
        "inferred: \(NumberText.counted(work.count, "statement"))"
      case (1, 1): "inferred, by copy: \(NumberText.counted(work.count, "pass", "passes"))"
      case (1, _): "with a mapping model: \(NumberText.counted(work.count, "pass", "passes"))"
      case (let all, let some):
        "\(all) steps, \(some) inferred and \(all - some) with a mapping model"
      }
    return "\(way), \(NumberText.counted(rows, "row")) written, "
      + String(format: "%.3f s, ", rehearsal.seconds)
      + "\(NumberText.grouped(rehearsal.sizes.before)) to "
      + "\(NumberText.grouped(rehearsal.sizes.after)) bytes"
  }

  /// Returns the reasons of a refusal, each with what to do; empty if there's none.
  package static func reasons(_ rehearsal: MigrationRehearsal) -> [String] {
    switch rehearsal.refusal {
    case nil: return []
    case .notInferable(let gap):
      return gap.obstacles.map { difference in
        [summary(difference), difference.leastChange].compactMap(\.self).joined(separator: " ")
      }
    case .policies(let policies, let from, let to):
      return policies.map {
        "From \(from) to \(to), the entity mapping \($0.mapping) needs the policy class \($0.className)."
      } + [
        "cdprof doesn't have the app's classes. Migrate a copy in a test or program that has them: "
          + "register each with registerClass(named:), and use ProgressiveMigration or NSMigrationManager."
      ]
    }
  }

  /// Returns a difference with its rule, in a sentence or two.
  package static func summary(_ difference: ModelDifference) -> String {
    let former = difference.former.map { "from \($0)" }
    let change = [
      [difference.kind.rawValue, former].compactMap(\.self).joined(separator: " "),
      difference.detail,
    ].compactMap(\.self).joined(separator: ", ")
    return "\(difference.subject.rawValue) \(difference.path): \(change)."
      + (difference.reason.map { " \($0)" } ?? "")
  }

  /// Returns the rule by which a difference is migrated without a mapping model, as a sentence or
  /// two.
  package static func rule(of difference: ModelDifference) -> String {
    if let reason = difference.reason { return reason }
    return switch difference.kind {
    case .added where difference.subject == .entity: "It begins without objects."
    case .added where difference.subject == .attribute: "Rows get its default value, if it has one."
    case .added: "It begins empty."
    case .removed: "Nothing is stored for it."
    case .renamed: "The renaming identifiers are the same."
    case .moved: "It's moved within its hierarchy."
    case .changed: "Values are kept."
    }
  }

  /// Returns a loss, such as `12,431 values of Mood.note`, or
  /// `the order of 3 values of Album.songs`.
  package static func loss(_ loss: MigrationLoss) -> String {
    let path = loss.property.map { "\(loss.entity).\($0)" } ?? loss.entity
    let kind = loss.property == nil ? "object" : "value"
    let values = "\(NumberText.counted(loss.values, kind)) of \(path)"
    return switch loss.aspect {
    case .value: values
    case .precision: "the precision of \(values)"
    case .order: "the order of \(values)"
    case .entity: "the entity of \(values)"
    }
  }

  /// Returns a possible rename with the advice.
  package static func rename(_ rename: SuspectedRename) -> String {
    let prefix = rename.entity.map { "\($0)." } ?? ""
    return "\(prefix)\(rename.removed) is removed, and \(prefix)\(rename.added) is added "
      + "(\(rename.kind)). \(rename.advice)"
  }

  /// Returns what a step takes, in parts.
  package static func costs(_ costs: MigrationCosts) -> [String] {
    var parts = [String(format: "%.3f s", costs.seconds)]
    if let bytes = costs.bytesWritten {
      parts.append("\(NumberText.grouped(bytes)) bytes written")
    }
    if let peak = costs.peakMemory {
      let before = costs.memoryBefore.map { " (\(megabytes($0)) before)" } ?? ""
      parts.append("peak memory \(megabytes(peak))\(before)")
    }
    parts.append("SQLite's peak memory \(megabytes(costs.peakSQLiteMemory))")
    parts.append("\(NumberText.grouped(costs.peakDisk)) bytes of temporary disk space")
    return parts
  }

  /// Returns a number of bytes in megabytes (1,000,000 bytes), with one decimal place.
  package static func megabytes(_ bytes: Int) -> String {
    String(format: "%.1f MB", Double(bytes) / 1_000_000)
  }

  private static func lines(_ step: MigrationRehearsal.Step, isOnly: Bool) -> [String] {
    let heading =
      step.isInferred ? "inferred" : "mapped by \(step.mappings.joined(separator: ", "))"
    var lines = ["", isOnly ? "Changes:" : "\(step.from) to \(step.to), \(heading):"]
    lines += step.differences.map { difference in
      let rule = difference.reason == nil && step.isInferred ? " \(rule(of: difference))" : ""
      return "  \(summary(difference))\(rule)"
    }
    lines += step.work.map { work in
      let instances = work.instances.map { " of \(NumberText.counted($0, "instance"))" } ?? ""
      return String(format: "  %9.3f ms  ", work.seconds * 1_000)
        + "\(work.name)\(instances) · \(NumberText.counted(work.rows, "row"))"
    }
    lines.append("  \(costs(step.costs).joined(separator: ", "))")
    return lines
  }

  private static func lines(_ growth: MigrationGrowth) -> [String] {
    var lines = ["", "Time by rows:"]
    if growth.sizes.count > 1 {
      lines += growth.sizes.map { size in
        let perRow = size.rows > 0 ? size.seconds * 1_000_000 / Double(size.rows) : 0
        return "  \(NumberText.right(size.rows, 12)) rows"
          + String(format: "  %9.3f s  %9.2f µs per row", size.seconds, perRow)
          + (size.factor == 1
            ? "  this store" : "  each object \(NumberText.grouped(size.factor)) times")
      }
    }
    if let rows = growth.rowsAtLimit {
      lines.append(
        "  \(Int(MigrationGrowth.launchLimit)) s would be reached at about \(NumberText.grouped(rows)) "
          + "rows on this machine.")
    }
    if let obstacle = growth.obstacle { lines.append("  \(obstacle)") }
    return lines
  }
}
