import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// Finds object faults or to-many relationship faults that each ran their own SELECT.
///
/// It fires if, within one step and from one call site, at least `threshold` faults of the same
/// entity or relationship were fulfilled from the database by the same SQL.
/// `IneffectivePrefetchRule` reports faults that were prefetched, and `CountPerRowRule`
/// relationships that were only counted.
package enum FaultStormRule {
  static let rule = Rule(
    .faultStorm, chapter: 8,
    meaning: "Many faults fired one at a time, and each ran its own SELECT (the N+1 problem).",
    condition:
      "\(threshold) or more faults of one entity or one relationship, from one line within one step, "
      + "all fulfilled from the database by the same SQL. Row-cache hits don't count.",
    remedy: "Let the fetch load the rows (`includesPropertyValues`, `returnsObjectsAsFaults = "
      + "false`), prefetch the relationship, or keep a strong reference to a small set of "
      + "objects.",
    metrics: [.selects, .misses, .faults, .rows], search: .step(findings))
  package static let threshold = StatementShape.minimumRepeats

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context)
      .filter { !$0.storm.isThroughParent }
      .filter { !$0.storm.isPrefetched(by: context.fetch) && !$0.storm.isOfNumbers(in: context) }
      .map { storm, count in
        storm.finding(rule.name, count: count, fix: fix(storm, context))
      }
  }

  private static func fix(_ storm: Storm, _ context: StepContext) -> SuggestedFix {
    if storm.accessPath == .unknown {
      return SuggestedFix(
        advice: "before this step, fetch the objects of \(storm.entity) and prefetch their "
          + (storm.subject.split(separator: ".").last.map(String.init) ?? storm.subject))
    }
    guard let keyPath = storm.keyPath else { return objectFix(storm.entity, context) }
    if storm.isForChild { return Storm.parentContextFix(keyPath) }
    return context.obstacle.map { storm.fix(against: $0, keyPath) }
      ?? Storm.prefetchFix(keyPath, context.fetch)
  }

  /// Returns the fix for fetched objects: the fetch must load their rows.
  ///
  /// If the fetch did load them, the rows were released since, by a refresh or with their objects;
  /// then one more fetch loads all of them, as it does for objects of other entities, which a
  /// delete rule reached.
  private static func objectFix(_ entity: String, _ context: StepContext) -> SuggestedFix {
    let entities = context.resultEntities
    if let fetch = context.fetch, fetch.flag(of: .values) == false, context.obstacle == nil,
      entities.isEmpty || entities.contains(entity)
    {
      return SuggestedFix(
        now: "request.includesPropertyValues = false", fetch: fetch.without(.values))
    }
    return SuggestedFix(swift: [
      "request.predicate = NSPredicate(format: \"self IN %@\", objects)",
      "request.returnsObjectsAsFaults = false",
    ])
  }
}

/// Finds batched fetches whose result was loaded completely for an array or for sections.
///
/// It fires if a fetch itself, a step that converts the result to a Swift array, or a results
/// controller that reads the section of each object loaded at least two batches. Loading all
/// batches at once defeats the batch size and takes many statements.
enum BatchWalkedRule {
  static let rule = Rule(
    .batchWalked, chapter: 6,
    meaning: "The result of a fetch with a batch size was converted to an array, or divided into "
      + "sections, which loads every batch at once.",
    condition:
      "\(minimumBatches) batches or more, loaded by one call of `fetch(_:)`, for an array that a "
      + "step made of the result, or for the sections of a results controller.",
    remedy: "Use `fetchBatched(_:)` and read its result by index, sorted by the request; or set no "
      + "batch size. Give a controller with sections a cache.",
    metrics: [.selects, .rows, .registered, .peak], countsOne: true, search: .step(findings))
  /// The minimum number of batches; a batched fetch always loads one.
  static let minimumBatches = 2

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    var order: [Int] = []
    var batches: [Int: [RecordedEvent]] = [:]
    var fetch: RecordedEvent?
    // The batch that a parent context loaded, by the ID of its child's.
    var inner: [Int: Int] = [:]
    for event in recording.events {
      if event.kind == .fetch { fetch = event }
      guard event.kind == .batchLoad else { continue }
      guard !recording.repeatsEventOfChild(event) else {
        inner[event.parent] = event.id
        continue
      }
      // `fetch(_:)` loads batches with its own call site; a result that's read later has another
      // one.
      let isOfFetch = fetch?.entity == event.entity && fetch?.callSite == event.callSite
      guard let owner = isOfFetch ? fetch?.id : context.makesArray ? 0 : nil else { continue }
      if batches[owner] == nil { order.append(owner) }
      batches[owner, default: []].append(event)
    }
    order = order.filter { batches[$0].map { $0.count >= minimumBatches } == true }
    guard !order.isEmpty else { return [] }
    let texts = recording.statementTexts()
    return order.compactMap { owner in
      guard let loaded = batches[owner], let entity = loaded[0].entity
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: loaded.count, callSite: loaded[0].callSite,
        what: "batches loaded at once for "
          + (context.arrangesSections ? "sections" : "an array"),
        sql: sql(of: loaded[0].id, inner, texts),
        fix: context.arrangesSections
          ? SuggestedFix(
            advice: "give the controller a cache, which keeps its sections until the rows change; "
              + "or set no batch size")
          : fix(isArray: owner == 0, context.fetch))
    }
  }

  /// Returns the SQL of a batch, whose statement a parent context runs for its child.
  private static func sql(of batch: Int, _ inner: [Int: Int], _ texts: StatementTexts) -> String? {
    var id = batch
    while texts[id] == nil, let next = inner[id] { id = next }
    return texts[id]
  }

  /// Returns the fix: a result that's read by index loads batches on demand, an array doesn't.
  private static func fix(isArray: Bool, _ fetch: Step?) -> SuggestedFix {
    isArray
      ? SuggestedFix(
        advice: "read the list by index and let the request sort and filter it, without an "
          + "Array of it; to load everything, fetch without a batch size",
        fetch: fetch?.without(.batch))
      : SuggestedFix(
        swift: ["let objects = try context.fetchBatched(request)"], fetch: fetch?.without(.batch))
  }
}

/// Finds large results of which only the first objects were read.
///
/// It fires if a fetch without batch size and limit returned at least `threshold` rows, and the
/// steps that read the result read at most one in `part` of them. Objects that are read through a
/// relationship later, or through a result whose fetch loaded no rows, need the other rows.
enum PartlyReadRule {
  static let rule = Rule(
    .partlyRead, chapter: 8,
    meaning: "A large result was fetched in full, but only its first objects were read.",
    condition:
      "\(NumberText.grouped(threshold)) rows or more, fetched without batch size and limit, of "
      + "which at most one in \(part) was read; no predicate uses the result, and no later step "
      + "reads objects of the entity through a relationship or a result with `values no`.",
    remedy: "Set `fetchBatchSize` to about 1.3 screens of rows.",
    metrics: [.rows, .registered, .peak], countsOne: true, search: .work(findings))
  /// The minimum number of rows for which a batch size is worth its second SELECT.
  static let threshold = 1_000
  /// The denominator of the maximum fraction of rows that are read.
  static let part = 20

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { position in
      let part = work.parts[position]
      guard let fetch = part.step.fetch, fetch.option(.result) == nil,
        !fetch.limits(.batch), !fetch.limits(.limit), !fetch.limits(.offset),
        let rows = work.events(of: part).first(where: { $0.kind == .fetch })?.rows,
        rows >= threshold
      else { return nil }
      let users = work.users(ofResultAt: position)
      guard !users.isEmpty, users.allSatisfy({ $0.step.verb == .touch }) else { return nil }
      let read = users.map { $0.step.part(of: rows).upperBound }.max() ?? rows
      guard read > 0, read * PartlyReadRule.part <= rows,
        !work.usesRows(ofFetchAt: position)
      else { return nil }
      return Finding(
        rule: rule.name, subject: fetch.subject, count: rows, callSite: part.recorded.location,
        what: "rows fetched, the first \(NumberText.grouped(read)) of them read",
        fix: fix(fetch))
    }
  }

  /// Returns the fix: a batch size, with which only the objects of batches that are read exist.
  ///
  /// Without property values, each of these objects would run a SELECT.
  private static func fix(_ fetch: Step) -> SuggestedFix {
    let loadsRows = fetch.flag(of: .values) != false
    return SuggestedFix(
      swift: (loadsRows ? [] : ["request.includesPropertyValues = true"])
        + ["request.fetchBatchSize = 20"],
      fetch: (loadsRows ? fetch : fetch.without(.values)).with(.batch, .number(StepNumber(20))),
      metrics: [.peak])
  }
}
