import Foundation
import ManagedModel
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// Finds objects that were fetched only to be counted.
///
/// It fires if at least `threshold` objects were fetched and the result was enumerated completely,
/// but no property was read, also through a relationship or another result whose fetch loaded no
/// rows, or changed, no object was assigned to another one, and no predicate refers to the result.
enum FetchToCountRule {
  static let rule = Rule(
    .fetchToCount, chapter: 6,
    meaning:
      "Objects were fetched only to count them, which SQLite can do without returning a row.",
    condition:
      "A named result of \(threshold) objects or more was walked from end to end, and nothing "
      + "of it was read, also through a relationship or a result with `values no`, changed, assigned to "
      + "another object, or used in a predicate.",
    remedy: "Use `count(for:)` or the result type `.countResultType`.",
    metrics: [.rows, .registered, .peak], search: .work(findings))
  /// The minimum number of rows; fewer rows cost little more than a count.
  static let threshold = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { position in
      let part = work.parts[position]
      guard let fetch = part.step.fetch,
        part.step.resultKind == .objects || part.step.resultKind == .ids
      else { return nil }
      let users = work.users(ofResultAt: position)
      guard !users.isEmpty, users.allSatisfy(\.step.goesThroughAll),
        !fetch.limits(.batch),
        let event = work.events(of: part).first(where: { $0.kind == .fetch }),
        event.rows >= threshold, !work.usesRows(ofFetchAt: position)
      else { return nil }
      var fixed = fetch.without(.result).without(.sort).without(.prefetch).without(.batch)
      fixed = fixed.without(.faults).without(.values).with(
        .result, .choice(ResultKind.count.rawValue))
      fixed.name = nil
      return Finding(
        rule: rule.name, subject: fetch.subject, count: event.rows,
        callSite: part.recorded.location,
        what: "rows fetched only to be counted",
        fix: SuggestedFix(
          swift: ["let number = try context.count(for: request)"], fetch: fixed, metrics: [.rows]))
    }
  }
}

extension Step {
  /// Whether the step only enumerates a result from its first object to its last.
  fileprivate var goesThroughAll: Bool {
    verb == .walk && reads.isEmpty && option(.sort) == nil
      && [.limit, .offset, .every].allSatisfy { number(of: $0) ?? 0 <= ($0 == .every ? 1 : 0) }
  }
}

/// Finds to-many relationships that were loaded one owner at a time, only for their count.
///
/// It fires if at least `FaultStormRule.threshold` relationship faults were fulfilled from the
/// database one at a time and the step read only `@count`. It replaces `fault-storm`, whose fix, a
/// prefetch, would load all objects to be counted.
enum CountPerRowRule {
  static let rule = Rule(
    .countPerRow, chapter: 8,
    meaning:
      "Many to-many relationship faults fired one at a time, each with its own SELECT, and only "
      + "the number of objects was read.",
    condition:
      "\(FaultStormRule.threshold) or more relationship faults, fulfilled from the database, through a "
      + "key path that ends in `@count`, with nothing else read through it, also by other steps "
      + "that read the result. Replaces `fault-storm`.",
    remedy:
      "Store the count in the owner, as a derived attribute or by updating it with each change; "
      + "or count all of them with one fetch of dictionaries that uses `group`.",
    metrics: [.selects, .misses, .faults, .rows], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context).compactMap { storm, count in
      // The SELECTs for a child context are those of its parent's faults.
      guard storm.isOfNumbers(in: context), !storm.isThroughParent else { return nil }
      let name = storm.subject.split(separator: ".").last.map(String.init) ?? storm.subject
      return storm.finding(
        rule.name, count: count, what: "SELECTs, one for each relationship, only for a count",
        fix: SuggestedFix(
          swift: [
            "<attribute name=\"\(name)Count\" attributeType=\"Integer 64\" derived=\"YES\" "
              + "derivationExpression=\"\(name).@count\"/>"
          ],
          advice: "store the count in \(storm.entity), or count all of them with one fetch of "
            + "grouped dictionaries"))
    }
  }

  /// Returns the findings of single steps, with a fault storm for each count of objects that
  /// another step of the work reads: a prefetch loads them for both.
  static func reconsidered(_ findings: [Finding], in work: FinishedWork) -> [Finding] {
    struct Counted: Hashable {
      let callSite: CallSite?
      let subject: String
    }
    // A `repeat` block has a finding for each repetition.
    var fixes: [Counted: SuggestedFix?] = [:]
    return findings.map { finding in
      guard finding.rule == rule.name else { return finding }
      let counted = Counted(callSite: finding.callSite, subject: finding.subject)
      let fix: SuggestedFix? = fixes[counted] ?? prefetch(for: finding, in: work)
      fixes.updateValue(fix, forKey: counted)
      guard let fix else { return finding }
      return Finding(
        rule: .faultStorm, subject: finding.subject, count: finding.count,
        callSite: finding.callSite, what: Storm.whatOfRelationships, sql: finding.sql, fix: fix)
    }
  }

  /// Returns the prefetch of counted objects, or `nil` if no other step reads them.
  private static func prefetch(for finding: Finding, in work: FinishedWork) -> SuggestedFix? {
    let name = finding.subject.split(separator: ".").last ?? ""
    for (position, part) in work.parts.enumerated()
    where part.step.verb == .touch && part.recorded.location == finding.callSite {
      let counted = part.step.reads.compactMap(Step.countedPath)
      guard let path = counted.first(where: { $0.split(separator: ".").last == name }),
        let source = work.source(ofResultAt: position), part.shape.staleness != 0,
        work.parts[source.position].shape.coordinator == part.shape.coordinator
      else { continue }
      let reads = work.users(ofResultAt: source.position).flatMap(\.step.reads)
      if reads.contains(where: { Step.countedPath($0) != path && $0.hasPrefix("\(path).") }) {
        return Storm.prefetchFix(path, work.parts[source.position].step)
      }
    }
    return nil
  }
}

/// Finds fetched objects that were sorted in memory.
///
/// It fires if the comparisons fired at least `threshold` faults, or loaded at least two batches of
/// a batched result. Sorting reads all objects, which defeats faulting and batching. Objects whose
/// values are loaded are cheap to compare, so they don't count. A fetch with a limit or an offset
/// doesn't count either, because a request that sorts would return other objects.
enum SortedInMemoryRule {
  static let rule = Rule(
    .sortedInMemory, chapter: 8,
    meaning: "Fetched objects were sorted in memory, which reads every object.",
    condition:
      "A `walk` with `sort`, through the whole result of a fetch without `limit` and `offset`, "
      + "whose comparisons fired \(threshold) faults (wherever they were fulfilled from) or "
      + "loaded \(BatchWalkedRule.minimumBatches) batches. The keys are persistent attributes.",
    remedy: "Use the request's `sortDescriptors`, with an index if the list is long and only its "
      + "beginning is shown.",
    metrics: [.faults, .hits], search: .step(findings))
  /// The minimum number of faults, which is the threshold of a fault storm.
  static let threshold = FaultStormRule.threshold

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    guard let sorting = context.sorting, let fetch = context.fetch,
      !fetch.limits(.limit), !fetch.limits(.offset)
    else { return [] }
    let caused = recording.events.prefix { $0.id <= sorting.through }
      .filter { !recording.repeatsEventOfChild($0) }
    let batches = caused.filter { $0.kind == .batchLoad }
    let faults = caused.filter { $0.kind == .objectFault }
    let areBatches = batches.count >= BatchWalkedRule.minimumBatches
    guard areBatches || faults.count >= threshold else { return [] }
    let keys = sorting.keys.map {
      "NSSortDescriptor(key: \"\($0.keyPath)\", ascending: \($0.isAscending))"
    }
    let fixed = fetch.with(.sort, .sortKeys(sorting.keys))
    return [
      Finding(
        rule: rule.name, subject: fetch.subject, count: areBatches ? batches.count : faults.count,
        callSite: (areBatches ? batches : faults).first?.callSite,
        what: areBatches ? "batches loaded to sort in memory" : "faults fired to sort in memory",
        fix: SuggestedFix(
          swift: ["request.sortDescriptors = [\(keys.joined(separator: ", "))]"], fetch: fixed,
          spares: .sort, metrics: [.selects, .faults]))
    ]
  }
}

/// Finds scans and sorts that an index makes cheap, as verified on a copy of the store.
///
/// It fires if statements of the work performed full scans or sorted with a temp B-tree, and an
/// index that was created on a copy of the store saved at least `minimumGain` VM steps and left at
/// most a fifth of them. A statement that no index helps isn't a finding: if a program needs all
/// rows, SQLite has to read them.
enum MissingIndexRule {
  static let rule = Rule(
    .missingIndex, chapter: 8,
    meaning:
      "SQLite reads or sorts rows unnecessarily; an index avoids it, as verified on a copy of the "
      + "store.",
    condition:
      "An index created on a copy of the store saves \(NumberText.grouped(minimumGain)) VM steps "
      + "of the work and leaves at most one in \(minimumFactor) of them.",
    remedy: "Add the fetch index to the model, or as SQL; `cdprof advise` lists its costs.",
    search: .store(findings))
  /// The minimum number of VM steps that an index saves for the work as a whole, which is about
  /// what reading a thousand rows takes.
  static let minimumGain = AdviceUnit.vmSteps.findingGain
  /// The minimum factor by which an index reduces the VM steps.
  static let minimumFactor = 5

  /// Tries indexes for the statements whose plans suggest one, and returns findings for those that
  /// help.
  ///
  /// **Cost:** none if no plan suggests an index; otherwise, copies the store and runs
  /// `IndexAdvisor` on the copy.
  ///
  /// - Parameters:
  ///   - shapes: The statements of the work with their plans and work.
  ///   - makeAdvisor: Returns an advisor on a copy of the store after the work.
  static func findings(
    in shapes: [StatementShape], advisor makeAdvisor: () throws -> IndexAdvisor
  ) -> [Finding] {
    guard shapes.contains(where: suggestsIndex), let advisor = try? makeAdvisor() else { return [] }
    let advice = advisor.advice(on: AdvisedStatement.all(in: shapes))
    var named: Set<String> = []
    return advice.proposals.compactMap { proposal in
      guard !named.contains(proposal.name) else { return nil }
      let partners = advice.proposals.filter { proposal.partners.contains($0.name) }
      named.formUnion(proposal.partners)
      return finding(proposal, with: partners, of: advice.unit, in: shapes)
    }
  }

  /// Returns the finding for an index, or `nil` if it doesn't save enough.
  ///
  /// - Parameter partners: The indexes for the other sides of an `OR`, which belong to the fix.
  private static func finding(
    _ proposal: IndexProposal, with partners: [IndexProposal], of unit: AdviceUnit,
    in shapes: [StatementShape]
  ) -> Finding? {
    let (before, after) = (proposal.stepsBefore, proposal.stepsAfter)
    guard before - after >= unit.findingGain, after * minimumFactor <= before,
      let gain = proposal.gains.first, let entity = proposal.entity,
      let shape = shapes.first(where: { $0.sql == gain.sql })
    else { return nil }
    let all = [proposal] + partners
    let elements = all.flatMap(\.modelElement).map { $0.trimmingCharacters(in: .whitespaces) }
    let missing = partners.isEmpty ? "an index" : "indexes"
    return Finding(
      rule: rule.name, subject: entity, count: before, callSite: shape.firstCallSite,
      what: "\(unit.plural) without \(missing) of "
        + all.map(\.title).joined(separator: " and "), sql: gain.sql,
      fix: SuggestedFix(
        swift: [elements.joined()], advice: all.map(\.sql).joined(separator: "; ")),
      verification: VerifiedFix(
        measure: unit.plural, before: before, after: after, variant: "on a copy"))
  }

  /// Returns whether a statement's plan suggests an index, and its work is large enough to copy the
  /// store.
  private static func suggestsIndex(_ shape: StatementShape) -> Bool {
    let planSuggestsIndex = shape.notes.contains { note in
      switch note {
      case .fullScan, .partialScan, .tempBTree, .automaticIndex, .entityIndex: true
      case .correlatedSubquery, .multiIndexOr: false
      }
    }
    let isLarge = planSuggestsIndex && (shape.work?.vmSteps ?? 0) >= minimumGain
    switch shape.kind {
    // `suggestsIndex` is of a server, whose unit only the advisor knows.
    case .select: return shape.suggestsIndex || isLarge
    case .update, .delete: return isLarge && AdvisedStatement(shape).searchesRowsToChange
    case .insert, .transaction, .housekeeping: return false
    }
  }
}
