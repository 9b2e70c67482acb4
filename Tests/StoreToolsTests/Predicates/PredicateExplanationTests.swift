import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import StoreTools
@testable import WorkbenchText

@Suite("Predicate explanations")
struct PredicateExplanationTests {
  private func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel"))
  }

  @Test func treeHasOneLinePerNode() throws {
    let explanation = try PredicateExplanation(
      "date >= %@ and (ANY moods.date == nil || SUBQUERY(moods, $x, NOT $x.n + 1 < 3).@count = 2)")
    #expect(
      explanation.format
        == "date >= %@ AND (ANY moods.date == nil OR "
        + "SUBQUERY(moods, $x, NOT $x.n + 1 < 3).@count == 2)")
    #expect(
      explanation.tree == [
        "AND", "|-->=", "|  |--key path date", "|  `--argument %@", "`--OR", "   |--ANY ==",
        "   |  |--key path moods.date", "   |  `--constant nil", "   `--==", "      |--path",
        "      |  |--SUBQUERY $x", "      |  |  |--key path moods", "      |  |  `--NOT",
        "      |  |     `--<", "      |  |        |--function add:to:",
        "      |  |        |  |--path", "      |  |        |  |  |--variable $x",
        "      |  |        |  |  `--key path n", "      |  |        |  `--integer 1",
        "      |  |        `--integer 3", "      |  `--key path @count", "      `--integer 2",
      ])
    #expect(explanation.statement == nil)
    #expect(PredicateText.lines(explanation, .format) == ["format  \(explanation.format)"])
  }

  @Test func showsSQLBoundValuesAndPlan() throws {
    let explanation = try PredicateExplanation(
      "country.numericISO3166Code == 49 AND SELF.date > CAST(1.5, 'NSDate')", entity: "Mood",
      model: try model())
    let lines = PredicateText.lines(explanation, [.sql, .binds])
    #expect(lines.first?.hasPrefix("sql     SELECT 0, t0.Z_PK") == true)
    #expect(lines.first?.contains("t1.ZNUMERICISO3166CODE = ?") == true, "\(lines)")
    #expect(lines.dropFirst() == ["binds   [0] 49", "        [1] 1.5"])
    let plan = PredicateText.lines(plan: ["SEARCH t0 USING INDEX i (a=?)"], of: explanation)
    #expect(plan.first == "plan    SEARCH t0 USING INDEX i (a=?)" && plan.count == 2)
  }

  @Test(arguments: [
    ("date > 3 AND", 13, "is incomplete"), ("dat > 3", 1, "did you mean `date`?"),
    ("date > 3 AND country.nme == 'x'", 22, "no property `nme`"),
    ("date != nil AND date isEqual: country", 17, "can't be translated to SQL"),
    ("country.moods.count > 2", 15, "did you mean `country.moods.@count`?"),
  ])
  func errorsHaveACaret(format: String, column: Int, part: String) throws {
    let model = try model()
    let failure = #expect(throws: CommandFailure.self) {
      try PredicateExplanation(format, entity: "Mood", model: model)
    }
    #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
    let carets = failure?.excerpt?.split(separator: "\n").last ?? ""
    #expect(carets.prefix { $0 == " " }.count == column - 1 + 2, "\(failure?.excerpt ?? "")")
  }

  /// A predicate that's copied from a program can have placeholders.
  @Test(arguments: ["date > %@", "%K == 3"])
  func placeholdersAreToBeReplaced(format: String) throws {
    let model = try model()
    let failure = #expect(throws: CommandFailure.self) {
      try PredicateExplanation(format, entity: "Mood", model: model)
    }
    #expect(failure?.nextStep == PredicateCheck.literalStep)
    let entity = try #require(model.entitiesByName["Mood"])
    let problem = #expect(throws: LanguageProblem.self) {
      try PredicateCheck(names: ModelNames(model), entity: entity).check(format, at: nil)
    }
    #expect(problem?.message.hasSuffix("has no argument") == true)
    #expect(problem?.nextStep == PredicateCheck.literalStep)
  }

  /// The source range of a key path is searched for only if it's part of an error.
  @Test func manyUsesOfAKeyPathAreCheckedInLinearTime() throws {
    let model = try model()
    let entity = try #require(model.entitiesByName["Mood"])
    let check = PredicateCheck(names: ModelNames(model), entity: entity)
    let format = Array(repeating: "latitude == 1", count: 40_000).joined(separator: " OR ")
    let begin = threadTime()
    try check.check(format, at: nil)
    let problem = #expect(throws: LanguageProblem.self) {
      try check.check(format + " OR latitud == 1", at: nil)
    }
    #expect(threadTime() - begin < 30)
    #expect(problem?.range.column == format.count + 5)
  }
}
