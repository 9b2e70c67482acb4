import CEmbeddedFiles
package import Foundation
import OpenCoreData
import RunReports
import RunResults
import StoreTools
import WorkbenchText

/// The values of the migration's template, formatted for display.
///
/// Strings are plain text, which the template escapes.
struct MigrationPage {
  struct Issues {
    var groups: [Group]
  }

  struct Group {
    var heading: String
    var lines: [Line]
  }

  struct Line {
    var text: String
    /// Values of the store.
    var values: [String] = []
  }

  struct Notes {
    var heading: String
    var lines: [String]
  }

  struct Board {
    var rows: [MigrationPageStep]
    var memoryBefore: String
    var isDebugBuild: Bool
  }

  /// The greatest number of lines of a list.
  private static let lineLimit = 500

  let title: String
  /// The result in a few words.
  let outcome: String
  let isGood: Bool
  let lead: String
  let summary: String
  /// What is lost or fails; `nil` if nothing is.
  let issues: Issues?
  let notes: [Notes]
  let steps: [MigrationPageStep]
  let hasSteps: Bool
  /// What to show if no step was rehearsed.
  let noSteps: String
  /// The costs of the steps; `nil` if there are none.
  let board: Board?
  let growth: MigrationPageGrowth?
  let command: String
  let size: String
  let environment: RunEnvironment
  /// The version of `cdprof`.
  let version: String

  init(_ rehearsal: MigrationRehearsal, command: String, showsValues: Bool) {
    environment = RunEnvironment.current
    version = environment.cdprof
    title = MigrationText.title(rehearsal)
    outcome = Self.outcome(rehearsal)
    isGood = rehearsal.isPreserving
    lead = Self.lead(rehearsal)
    summary = Self.summary(rehearsal)
    let groups = Self.groups(rehearsal, showsValues)
    issues = groups.isEmpty ? nil : Issues(groups: groups)
    notes = Self.notes(rehearsal)
    let longest = rehearsal.steps.map(\.costs.seconds).max() ?? 0
    steps = rehearsal.steps.enumerated().map { index, step in
      MigrationPageStep(
        step, number: index + 1, longest: longest, isDatabase: rehearsal.route.type == .sqlite)
    }
    hasSteps = !steps.isEmpty
    noSteps =
      rehearsal.isCurrent
      ? "none: the store already has this version" : "none: the migration is refused"
    board =
      steps.isEmpty
      ? nil
      : Board(
        rows: steps,
        memoryBefore: rehearsal.steps.first?.costs.memoryBefore.map(MigrationText.megabytes)
          ?? "an unknown amount",
        isDebugBuild: environment.build == "debug")
    growth = rehearsal.growth.flatMap { MigrationPageGrowth($0) }
    self.command = command
    size =
      rehearsal.sizes.after == 0
      ? "not migrated"
      : "\(NumberText.grouped(rehearsal.sizes.before)) bytes before, "
        + "\(NumberText.grouped(rehearsal.sizes.after)) after"
  }

  private static func outcome(_ rehearsal: MigrationRehearsal) -> String {
    if rehearsal.isCurrent { return "nothing to migrate" }
    if rehearsal.refusal != nil { return "refused" }
    if !rehearsal.violations.isEmpty { return "fails" }
    if !rehearsal.losses.isEmpty {
      func counted(_ name: String, _ isCounted: (MigrationLoss) -> Bool) -> String? {
        let count = rehearsal.losses.filter(isCounted).reduce(0) { $0 + $1.values }
        return count > 0 ? NumberText.counted(count, name) : nil
      }
      func values(_ aspect: MigrationLoss.Aspect) -> String? {
        counted("value") { $0.property != nil && $0.aspect == aspect }
      }
      let parts = [
        counted("object") { $0.property == nil && $0.aspect == .value },
        counted("object") { $0.aspect == .entity }.map { "the entity of \($0)" }, values(.value),
        values(.precision).map { "the precision of \($0)" },
        values(.order).map { "the order of \($0)" },
      ].compactMap(\.self)
      return "loses \(parts.joined(separator: " and "))"
    }
    return rehearsal.isPreserving ? "everything is preserved" : "doctor reports findings"
  }

  private static func lead(_ rehearsal: MigrationRehearsal) -> String {
    guard rehearsal.refusal == nil, !rehearsal.isCurrent else {
      let text = MigrationText.summary(rehearsal)
      return text.prefix(1).uppercased() + text.dropFirst() + "."
    }
    let work = rehearsal.steps.flatMap(\.work)
    let inferred = rehearsal.route.steps.count(where: \.mappingModels.isEmpty)
    let way =
      switch (rehearsal.route.steps.count, inferred) {
      case (1, 1) where rehearsal.route.type == .sqlite:
        "Inferred: \(NumberText.counted(work.count, "statement"))"
      case (1, 1): "Inferred, by copy: \(NumberText.counted(work.count, "pass", "passes"))"
      case (1, _): "With a mapping model: \(NumberText.counted(work.count, "pass", "passes"))"
      case (let all, let some): "\(all) steps, \(some) inferred and \(all - some) mapped,"
      }
    let rows = work.reduce(0) { $0 + $1.rows }
    return "\(way) \(work.count == 1 ? "writes" : "write") \(NumberText.counted(rows, "row")) in "
      + "\(MigrationPageStep.time(rehearsal.seconds))."
  }

  private static func summary(_ rehearsal: MigrationRehearsal) -> String {
    let route = rehearsal.route.steps
    guard let first = route.first else { return "" }
    let names = [first.from] + route.map(\.to)
    let path = names.map { $0.isEmpty ? "the store's version" : $0 }.joined(separator: " → ")
    guard rehearsal.steps.count < route.count else { return "\(path)." }
    return
      "\(path); \(NumberText.counted(rehearsal.steps.count, of: route.count, "step")) rehearsed."
  }

  private static func groups(_ rehearsal: MigrationRehearsal, _ showsValues: Bool) -> [Group] {
    var groups: [Group] = []
    func add(_ heading: String, _ lines: [Line]) {
      guard !lines.isEmpty else { return }
      var shown = Array(lines.prefix(lineLimit))
      if lines.count > lineLimit {
        shown.append(Line(text: "and \(NumberText.grouped(lines.count - lineLimit)) more"))
      }
      groups.append(Group(heading: heading, lines: shown))
    }
    add("Refused", MigrationText.reasons(rehearsal).map { Line(text: $0) })
    add(
      "Fails",
      rehearsal.violations.map { violation in
        Line(text: violation.reason, values: showsValues ? violation.samples : [])
      })
    add("Lost", rehearsal.losses.map { Line(text: MigrationText.loss($0)) })
    add(
      rehearsal.hasNewFindings
        ? "Findings of doctor in the migrated copy"
        : "Findings of doctor that the store already has before the migration",
      (rehearsal.doctor?.findings ?? []).map {
        Line(text: "\($0.rule.rawValue): \($0.message). Next: \($0.nextStep).")
      })
    return groups
  }

  private static func notes(_ rehearsal: MigrationRehearsal) -> [Notes] {
    let renames = rehearsal.steps.flatMap(\.suspectedRenames).map(MigrationText.rename)
    return [
      Notes(heading: "Possible renames", lines: Array(renames.prefix(lineLimit))),
      Notes(heading: "Warnings", lines: Array(rehearsal.warnings.prefix(lineLimit))),
    ].filter { !$0.lines.isEmpty }
  }
}

/// A step of a migration on the page.
struct MigrationPageStep {
  struct Change {
    var change: String
    var rule: String
  }

  struct Work {
    var name: String
    var sql: String
    var hasSQL: Bool
    var instances: String
    var rows: String
    var time: String
    var hasInstances: Bool
  }

  /// The greatest number of changes and of statements.
  private static let limit = 1_000

  let name: String
  let anchor: String
  let mapping: String
  /// The mapping in a few words.
  let kind: String
  let isMapped: Bool
  let rows: String
  let time: String
  /// The width of the bar in percent.
  let width: Int
  let written: String
  let memory: String
  let sqlite: String
  let disk: String
  let changes: [Change]
  let hasChanges: Bool
  /// Whether the work consists of passes over instances instead of statements.
  let hasInstances: Bool
  let workHeading: String
  let workColumn: String
  let work: [Work]
  let hasWork: Bool
  let more: String?

  init(_ step: MigrationRehearsal.Step, number: Int, longest: Double, isDatabase: Bool) {
    let from = step.from.isEmpty ? "the store's version" : step.from
    name = "\(from) to \(step.to)"
    anchor = "step-\(number)"
    isMapped = !step.isInferred
    mapping = step.isInferred ? "inferred" : "mapped by \(step.mappings.joined(separator: ", "))"
    kind =
      step.isInferred
      ? "inferred"
      : NumberText.counted(step.mappings.count, "entity mapping", "entity mappings")
    rows = NumberText.grouped(step.rows)
    time = Self.time(step.costs.seconds)
    width = longest > 0 ? Int((step.costs.seconds / longest * 100).rounded()) : 0
    written = step.costs.bytesWritten.map(NumberText.grouped) ?? "–"
    memory = step.costs.peakMemory.map(MigrationText.megabytes) ?? "–"
    sqlite = MigrationText.megabytes(step.costs.peakSQLiteMemory)
    disk = NumberText.grouped(step.costs.peakDisk)
    changes = step.differences.prefix(Self.limit).map { difference in
      var bare = difference
      bare.reason = nil
      return Change(
        change: MigrationText.summary(bare),
        rule: MigrationText.rule(of: difference))
    }
    hasChanges = !changes.isEmpty
    // A document is migrated by copy, even with an inferred mapping.
    let hasInstances = !(step.isInferred && isDatabase)
    self.hasInstances = hasInstances
    workHeading = hasInstances ? "Passes" : "Statements"
    workColumn = hasInstances ? "entity mapping and pass" : "statement"
    work = step.work.prefix(Self.limit).map { work in
      Work(
        name: work.name, sql: PageTemplate.truncated(work.sql), hasSQL: !work.sql.isEmpty,
        instances: work.instances.map(NumberText.grouped) ?? "–",
        rows: NumberText.grouped(work.rows), time: Self.time(work.seconds),
        hasInstances: hasInstances)
    }
    hasWork = !work.isEmpty
    more =
      step.work.count > work.count
      ? "and \(NumberText.grouped(step.work.count - work.count)) more" : nil
  }

  static func time(_ seconds: Double) -> String {
    NumberText.time(UInt64(max(0, min(seconds, 1e9)) * 1e9))
  }
}

/// How the time grows with the rows, on the page.
struct MigrationPageGrowth {
  struct Size {
    var name: String
    var rows: String
    var time: String
    var perRow: String
  }

  struct Curve {
    /// A description of the chart for assistive technology.
    var title: String
    var chart: ReportChart
  }

  /// The chart; `nil` for one size.
  let curve: Curve?
  let sizes: [Size]
  /// When the migration would take too long for a launch.
  let limit: String?
  let obstacle: String?

  /// Returns `nil` if no rows were measured.
  init?(_ growth: MigrationGrowth) {
    guard !growth.sizes.isEmpty else { return nil }
    sizes = growth.sizes.map { size in
      Size(
        name: size.factor == 1
          ? "this store" : "each object \(NumberText.grouped(size.factor)) times",
        rows: NumberText.grouped(size.rows), time: MigrationPageStep.time(size.seconds),
        perRow: size.rows > 0 ? Self.perRow(size.seconds * 1_000_000 / Double(size.rows)) : "–")
    }
    limit = growth.rowsAtLimit.map {
      "\(Int(MigrationGrowth.launchLimit)) s, after which iOS ends an app that hasn't launched, would be "
        + "reached at about \(NumberText.grouped($0)) rows on this machine."
    }
    obstacle = growth.obstacle
    guard growth.sizes.count > 1 else {
      curve = nil
      return
    }
    let rows = growth.sizes.map(\.rows)
    curve = Curve(
      title:
        "Milliseconds at \(rows.map(NumberText.grouped).joined(separator: ", ")) rows; the table has "
        + "the numbers",
      chart: ReportChart(
        scales: rows, names: ["milliseconds"],
        lines: [growth.sizes.map { max(1, Int(($0.seconds * 1_000).rounded())) }]))
  }

  /// Returns microseconds for a row.
  private static func perRow(_ microseconds: Double) -> String {
    microseconds < 100
      ? String(format: "%.2f µs", microseconds)
      : "\(NumberText.grouped(Int(min(microseconds, 1e12).rounded()))) µs"
  }
}

/// The rehearsal of a migration as a self-contained HTML page.
///
/// The page has no script, doesn't load anything, and looks like the page of a run (`HTMLReport`).
package enum MigrationReport {
  /// Returns the page as HTML.
  ///
  /// - Parameters:
  ///   - rehearsal: The rehearsal.
  ///   - command: The command that repeats it.
  ///   - showsValues: Whether to show values of the store, which can be private.
  /// - Throws: An error of the template's parser, which a test rules out.
  package static func page(
    _ rehearsal: MigrationRehearsal, command: String, showsValues: Bool = false
  ) throws -> String {
    try PageTemplate.render(
      String(cString: embedded_migration_html()),
      MigrationPage(rehearsal, command: command, showsValues: showsValues))
  }

  /// Returns the file of a store's page: `NAME-migration.html`.
  package static func url(for store: URL, in folder: URL) -> URL {
    folder.appendingPathComponent(
      "\(store.deletingPathExtension().lastPathComponent)-migration.html")
  }

  /// Writes the page and returns its file.
  ///
  /// - Parameters:
  ///   - rehearsal: The rehearsal.
  ///   - folder: The folder to write to; it's created if it doesn't exist.
  ///   - command: The command that repeats the rehearsal.
  ///   - showsValues: Whether to show values of the store, which can be private.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  /// - Throws: An `InvalidInputError` if such a file exists and `force` is false; an `NSError` of
  ///   the file system.
  package static func write(
    _ rehearsal: MigrationRehearsal, in folder: URL, command: String, showsValues: Bool = false,
    force: Bool = false
  ) throws -> URL {
    let page = try page(rehearsal, command: command, showsValues: showsValues)
    try OutputFile.makeFolder(folder)
    let url = url(for: rehearsal.store, in: folder)
    try OutputFile.write(Data(page.utf8), to: url, force: force)
    return url
  }
}
