import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds migrations with a mapping model that does what an inferred one would do.
///
/// It fires if the mapping model has no policies, and only expressions that the inferred one has
/// too.
enum InferableMappingRule {
  static let rule = Rule(
    .inferableMapping, chapter: 14,
    meaning:
      "A mapping model does what an inferred one would do, but reads and inserts every object.",
    condition:
      "A migration with a mapping model that has no policies, and whose expressions are those of the "
      + "mapping model that can be inferred between the two versions.",
    remedy: "Delete the mapping model: a lightweight migration runs in the store itself.",
    metrics: [.instances, .migratedrows], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let migration = context.migration, let mapping = migration.inferableMapping,
      let most = recording.events.filter({ $0.migration?.work == .instances })
        .max(by: { $0.rows < $1.rows }), let entity = most.entity
    else { return [] }
    return [
      Finding(
        rule: rule.name, subject: entity,
        count: recording.value(of: .instances), callSite: recording.steps.first?.location,
        what: "objects inserted into a new file",
        fix: SuggestedFix(
          advice: "delete \(mapping), and migrate with shouldInferMappingModelAutomatically"))
    ]
  }
}

/// Finds several inferred migrations in a row that one could replace.
///
/// It fires if a step ran several inferred migrations, and the mapping that is inferred from the
/// first to the last version takes every property from where the steps take it.
enum SeveralHopsRule {
  static let rule = Rule(
    .severalHops, chapter: 14,
    meaning:
      "A store was migrated version by version, although one inferred migration produces the same "
      + "store.",
    condition:
      "A step with several migrations, all of them inferred. The mapping from the first to the last "
      + "version can be inferred, and it maps each property from the same source.",
    remedy:
      "Migrate to the last version at once. Stop at a version only for code that must run there.",
    metrics: [.migrations, .migratedrows], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    let migrations = recording.events.filter { $0.kind == .migration }
    guard let migration = context.migration, migration.isPossibleInOne, migrations.count > 1,
      migrations.allSatisfy({ $0.migration?.work == .inferred })
    else { return [] }
    return [
      Finding(
        rule: rule.name, subject: recording.mostMigrated ?? "", count: migrations.count,
        callSite: recording.steps.first?.location, what: "migrations instead of one",
        fix: SuggestedFix(
          advice: "open the store with \(migration.version) and "
            + "shouldInferMappingModelAutomatically, without the versions in between"))
    ]
  }
}

/// Finds added attributes whose default value a migration wrote to every row.
///
/// It fires if a migration in place added columns to a table and then updated at least `threshold`
/// rows of it, but copied no rows of it and changed no entity IDs.
enum FilledDefaultRule {
  static let rule = Rule(
    .filledDefault, chapter: 14,
    meaning: "A migration wrote the default value of a new attribute to every row of a table.",
    condition:
      "An in-place migration that adds columns to a table and then updates \(threshold) or more of its "
      + "rows.",
    remedy:
      "Make the attribute optional and without a default value, and treat nil as the default: adding "
      + "its column then writes no row.",
    metrics: [.migratedrows], search: .step(findings))
  /// The minimum number of updated rows.
  static let threshold = 100

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard context.migration != nil else { return [] }
    let added = Set(
      recording.events.filter { $0.migration?.work == .addColumn }.compactMap(\.migratedEntity))
    return recording.events.compactMap { event in
      guard event.migration?.work == .changeRows, event.rows >= threshold,
        let entity = event.migratedEntity, added.contains(entity),
        let sql = event.statement?.sql, !sql.contains(" SET Z_ENT = ")
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: event.rows,
        callSite: recording.steps.first?.location, what: "rows updated with default values",
        sql: sql,
        fix: SuggestedFix(
          advice: "make the new attributes optional, without a default value, and return that "
            + "value for nil"))
    }
  }
}

/// Finds indexes of the model that the store doesn't have because its version hashes are equal.
///
/// It fires if the store already had the version hashes of a migration's version, which therefore
/// changed nothing, and a fetch index of the version isn't in the store.
enum IndexWithoutModifierRule {
  static let rule = Rule(
    .indexWithoutModifier, chapter: 14,
    meaning:
      "A model has a fetch index that the store doesn't have, because an index doesn't change the "
      + "version hash.",
    condition:
      "A migration to a version whose hashes the store has already, and a fetch index of the version "
      + "that isn't in the store.",
    remedy: "Set a hash modifier on the entity in the version that adds the index.",
    metrics: [.scanned], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    let missing = context.migration?.missingIndexes ?? [:]
    return missing.sorted { $0.key < $1.key }.map { entity, index in
      Finding(
        rule: rule.name, subject: entity, count: 1, callSite: recording.steps.first?.location,
        what: "entities without the index \(index)",
        fix: SuggestedFix(swift: ["entity.versionHashModifier = \"\(index)\""]))
    }
  }
}

/// Finds copies of a table's rows that a deferred migration would defer.
///
/// It fires if a migration in place copied at least `threshold` rows of an entity to a new table,
/// and a deferred migration between the same versions writes no row of it when it opens the store.
enum DeferrableCopyRule {
  static let rule = Rule(
    .deferrableCopy, chapter: 14,
    meaning:
      "A migration copied the rows of a table while the store was opened, only to remove columns.",
    condition:
      "An in-place migration that copies \(threshold) or more rows of an entity, of which a deferred "
      + "migration between the same versions writes none when it opens the store.",
    remedy:
      "Defer the migration, and finish it in a background task: opening the store then changes only "
      + "the schema, and the rows are copied later. This makes launching cheaper, but not the total work.",
    metrics: [.migratedrows, .copiedtables], search: .step(findings))
  /// The minimum number of copied rows.
  static let threshold = 100

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let migration = context.migration else { return [] }
    let deferrable = migration.copiedEntities.subtracting(migration.writtenEntities)
    return recording.events.compactMap { event in
      guard event.migration?.work == .copyTable, event.rows >= threshold,
        let entity = event.migratedEntity, deferrable.contains(entity)
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: event.rows,
        callSite: recording.steps.first?.location, what: "rows copied to remove columns",
        sql: event.statement?.sql,
        fix: SuggestedFix(
          advice: "set NSPersistentStoreDeferredLightweightMigrationOptionKey, and call "
            + "finishDeferredLightweightMigration() in a background task"))
    }
  }
}

/// Finds deferred migrations that write the rows of a table that they copy again when they're
/// finished.
///
/// It fires if a deferred migration updated at least `threshold` rows of an entity in place, and a
/// migration between the same versions that isn't deferred copies these rows once, with their new
/// values.
enum RewrittenTwiceRule {
  static let rule = Rule(
    .rewrittenTwice, chapter: 14,
    meaning:
      "A deferred migration wrote the rows of a table that it copies again when it's finished.",
    condition:
      "A deferred migration that updates \(threshold) or more rows of an entity, which a migration "
      + "that isn't deferred copies once, with their new values.",
    remedy:
      "Don't defer this migration, or write no row while the store is opened: make new attributes "
      + "optional and without a default value.",
    metrics: [.migratedrows], search: .step(findings))
  /// The minimum number of updated rows.
  static let threshold = 100

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let copied = context.migration?.copiedEntities else { return [] }
    return recording.events.compactMap { event in
      guard event.migration?.work == .changeRows, event.rows >= threshold,
        let entity = event.migratedEntity, copied.contains(entity),
        !recording.events.contains(where: { other in
          other.migration?.work == .copyTable && other.migratedEntity == entity
        })
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: event.rows,
        callSite: recording.steps.first?.location, what: "rows updated that are copied later",
        sql: event.statement?.sql,
        fix: SuggestedFix(
          advice: "migrate without NSPersistentStoreDeferredLightweightMigrationOptionKey"))
    }
  }
}

extension RecordedEvent {
  /// The entity whose table a step of a migration changed; `nil` if it isn't about one table.
  fileprivate var migratedEntity: String? {
    guard let migration, let colon = migration.purpose.firstIndex(of: ":") else { return entity }
    return entity ?? String(migration.purpose[..<colon])
  }
}

extension Recording {
  /// The entity of which migrations wrote the most rows, or else the first whose table they
  /// changed.
  fileprivate var mostMigrated: String? {
    var rows: [(entity: String, rows: Int)] = []
    for event in events where event.kind == .migrationStep {
      guard let entity = event.migratedEntity else { continue }
      if let index = rows.firstIndex(where: { $0.entity == entity }) {
        rows[index].rows += event.rows
      } else {
        rows.append((entity, event.rows))
      }
    }
    let most = rows.map(\.rows).max()
    return rows.first { $0.rows == most }?.entity
  }
}
