import ProfileEvents
import ScenarioLanguage

/// The rule that finds to-many relationships which were loaded for their number, owner by owner.
///
/// It fires when at least `FaultStorm.threshold` owners' lists came from the database one by one and the
/// step read nothing of them but `@count`. It then takes the storm's place: a prefetch would load all
/// that is to be counted.
enum CountPerRow: StepRule {
  static let rule = RuleName.countPerRow

  static func findings(in recording: Recording, context: StepContext) -> [Finding] {
    Storm.all(in: recording, context: context).compactMap { storm, count in
      guard storm.isOfNumbers(in: context) else { return nil }
      let name = storm.subject.split(separator: ".").last.map(String.init) ?? storm.subject
      return storm.finding(
        rule, count: count, what: "SELECTs, one for each relationship, only for a count",
        cure: SuggestedFix(
          swift: [
            "<attribute name=\"\(name)Count\" attributeType=\"Integer 64\" derived=\"YES\" "
              + "derivationExpression=\"\(name).@count\"/>"
          ],
          advice: "keep the number on \(storm.entity), or count all of them by one fetch of "
            + "dictionaries that groups"))
    }
  }
}
