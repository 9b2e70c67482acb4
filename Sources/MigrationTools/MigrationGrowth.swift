import Foundation
import OpenCoreData
import WorkbenchText

/// How the time of a migration grows with the rows, rehearsed on copies in which each object exists
/// several times.
package struct MigrationGrowth: Sendable, Equatable {
  /// The migration of one size.
  package struct Size: Sendable, Equatable {
    /// How many times each object exists.
    package let factor: Int
    package let rows: Int
    package let seconds: Double
  }

  /// The time after which iOS ends an app that hasn't launched, in seconds.
  package static let launchLimit = 20.0
  /// How many times the rows of the store the warning is about.
  package static let outlook = 10

  /// The sizes by ascending rows; the first is the store itself.
  package private(set) var sizes: [Size]
  /// The reason why larger sizes weren't rehearsed, as a sentence; `nil` if they were.
  package private(set) var obstacle: String?

  /// The seconds that don't depend on the rows, and the seconds for each row, by least squares;
  /// `nil` for less than two sizes.
  package var line: (constant: Double, perRow: Double)? {
    guard sizes.count > 1 else { return nil }
    let count = Double(sizes.count)
    let rows = sizes.map { Double($0.rows) }
    let (meanRows, meanTime) = (
      rows.reduce(0, +) / count, sizes.reduce(0) { $0 + $1.seconds } / count
    )
    let spread = rows.reduce(0) { $0 + ($1 - meanRows) * ($1 - meanRows) }
    guard spread > 0 else { return nil }
    let product = zip(rows, sizes).reduce(0) {
      $0 + ($1.0 - meanRows) * ($1.1.seconds - meanTime)
    }
    let perRow = max(0, product / spread)
    return (max(0, meanTime - perRow * meanRows), perRow)
  }

  /// The number of rows with which the migration takes the launch limit; `nil` if that isn't known.
  package var rowsAtLimit: Int? {
    guard let line, line.perRow > 0 else { return nil }
    let rows = (Self.launchLimit - line.constant) / line.perRow
    return rows < Double(Int32.max) * 1_000 ? max(0, Int(rows.rounded())) : nil
  }

  /// The seconds that the migration takes with ten times the rows of the store; `nil` if that isn't
  /// known.
  package var outlookSeconds: Double? {
    guard let line, let own = sizes.first else { return nil }
    return line.constant + line.perRow * Double(own.rows * Self.outlook)
  }

  /// Whether the store, or one with ten times its rows, takes longer than the launch limit.
  package var isTooSlow: Bool {
    (sizes.first?.seconds ?? 0) > Self.launchLimit || (outlookSeconds ?? 0) > Self.launchLimit
  }

  private static let smallStore = 10_000
  private static let greatestFactor = 100_000
  private static let budget = 30.0
  /// What part of the first larger copy of a small store is migrated before it, if it's larger.
  private static let probedFactor = 20
  private static let greatestSize = 16 << 30

  /// Rehearses the steps on larger copies.
  ///
  /// **Cost:** copying, multiplying, and migrating the store once for each factor.
  /// - Parameters:
  ///   - store: The original, which isn't modified.
  ///   - steps: The steps, without policies.
  ///   - seconds: The time of the rehearsal of the store itself.
  ///   - factors: How many times each object exists in the copies; `nil` for two sizes of 10,000
  ///     rows or more, if they take less than half a minute.
  ///   - limits: The limits of the statements for each size.
  ///   - progress: Called with what is done next.
  /// - Throws: Errors of the file system.
  static func rehearse(
    _ store: URL, _ steps: [ProgressiveMigration.Step], seconds: Double, factors: [Int]?,
    limits: RehearsalLimits, progress: (String) -> Void
  ) throws -> MigrationGrowth {
    guard let first = steps.first else { return MigrationGrowth(sizes: []) }
    let rows = try MultipliedStore.rowCount(
      of: store, model: first.source, configuration: first.configuration)
    var growth = MigrationGrowth(sizes: [Size(factor: 1, rows: rows, seconds: seconds)])
    guard rows > 0 else {
      growth.obstacle = "The store has no rows."
      return growth
    }
    let chosen = factors ?? automaticFactors(rows: rows, seconds: seconds)
    if chosen.isEmpty {
      growth.obstacle =
        "A larger copy would take longer than \(Int(budget)) s; --sizes 2 migrates one with twice the rows."
    }
    // The time of a small store says little about a much larger one: a copy in between does.
    if factors == nil, let factor = chosen.first, factor > probedFactor {
      let size = try growth.migrate(
        store, steps, rows, by: factor / probedFactor, limits, progress)
      if let size, size.seconds * Double(probedFactor) > budget {
        growth.sizes.append(size)
        growth.obstacle =
          "A copy with \(NumberText.grouped(rows * factor)) rows would take longer than \(Int(budget)) s."
        return growth
      }
    }
    for factor in chosen.sorted() where factor > 1 {
      if factors == nil, growth.isOverBudget(factor) { break }
      guard let size = try growth.migrate(store, steps, rows, by: factor, limits, progress)
      else { break }
      growth.sizes.append(size)
    }
    return growth
  }

  /// Migrates a larger copy, or sets `obstacle` and returns `nil` if that isn't possible.
  private mutating func migrate(
    _ store: URL, _ steps: [ProgressiveMigration.Step], _ rows: Int, by factor: Int,
    _ limits: RehearsalLimits, _ progress: (String) -> Void
  ) throws -> Size? {
    guard obstacle == nil, let first = steps.first, let last = steps.last else { return nil }
    progress("migrating a copy that contains each object \(NumberText.grouped(factor)) times")
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let copy = folder.appendingPathComponent("Store.sqlite")
    do {
      guard try Self.hasSpace(for: store, factor, in: folder) else {
        obstacle = "There's no space for a copy with \(factor) times the rows."
        return nil
      }
      try StoreFile.copy(from: store, to: copy, isSynced: false)
      try MultipliedStore.multiply(
        copy, by: factor, model: first.source, for: last.destination,
        configuration: first.configuration, limits: limits)
      let begin = ContinuousClock.now
      for step in steps { try step.run(at: copy, keepsOldStore: false, limits: limits) }
      let seconds = (ContinuousClock.now - begin) / .seconds(1)
      return Size(factor: factor, rows: rows * factor, seconds: seconds)
    } catch let problem as MultipliedStore.Obstacle {
      obstacle = "Larger copies can't be made: \(problem.reason)."
    } catch {
      obstacle = "A copy with \(factor) times the rows fails: \(ErrorText.of(error))"
    }
    return nil
  }

  /// Returns whether a copy is expected to take too long, given the last one.
  private func isOverBudget(_ factor: Int) -> Bool {
    guard let last = sizes.last, last.factor > 1 else { return false }
    return last.seconds * Double(factor) / Double(last.factor) > Self.budget
  }

  private static func automaticFactors(rows: Int, seconds: Double) -> [Int] {
    guard rows >= smallStore else {
      let factor = min((smallStore + rows - 1) / rows, greatestFactor / 4)
      return [factor, 4 * factor]
    }
    return [2, 4].filter { Double($0) * seconds <= budget }
  }

  private static func hasSpace(for store: URL, _ factor: Int, in folder: URL) throws -> Bool {
    guard let needed = try neededSpace(for: store, factor) else { return false }
    let free = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
    let available = (free?[.systemFreeSize] as? NSNumber)?.intValue ?? greatestSize
    return needed <= min(available, greatestSize)
  }

  /// Returns the bytes that a larger copy needs while it's migrated: those of the database and its
  /// WAL several times, and those of the external data files once, which the copies of an object
  /// share; `nil` if there's no database, or they exceed an integer.
  ///
  /// - Throws: 257 or 256 if the folder of external data files can't be read.
  static func neededSpace(for store: URL, _ factor: Int) throws -> Int? {
    func size(_ path: String) -> Int? {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }
    guard let database = size(store.path) else { return nil }
    let files = try ExternalStorage(storeURL: store).files()
    let (rows, isTooLarge) = (database + (size(store.path + "-wal") ?? 0))
      .multipliedReportingOverflow(by: 4 * factor)
    let (needed, overflows) = rows.addingReportingOverflow(files.values.reduce(0, +))
    return isTooLarge || overflows ? nil : needed
  }
}
