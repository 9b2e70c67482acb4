import ProfileEvents
import ScenarioLanguage

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
      "\(FaultStormRule.threshold) relationship faults, fulfilled from the database, through a "
      + "key path that ends in `@count`, with nothing else read through it. Replaces "
      + "`fault-storm`.",
    remedy:
      "Store the count in the owner, as a derived attribute or by updating it with each change; "
      + "or count all of them with one fetch of dictionaries that uses `group`.",
    metrics: [.selects, .misses, .faults, .rows], search: .step(findings))

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context).compactMap { storm, count in
      guard storm.isOfNumbers(in: context) else { return nil }
      let name = storm.subject.split(separator: ".").last.map(String.init) ?? storm.subject
      return storm.finding(
        rule.name, count: count, what: "SELECTs, one for each relationship, only for a count",
        cure: SuggestedFix(
          swift: [
            "<attribute name=\"\(name)Count\" attributeType=\"Integer 64\" derived=\"YES\" "
              + "derivationExpression=\"\(name).@count\"/>"
          ],
          advice: "store the count in \(storm.entity), or count all of them with one fetch of "
            + "grouped dictionaries"))
    }
  }
}
